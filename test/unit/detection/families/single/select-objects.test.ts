/** Selection of objects from decoded candidates: threshold, suppression, limit, mapping back into the image. */
import type { Candidates } from '../../../../../src/detection/families/single/decoder/candidates.js';
import type { Selection } from '../../../../../src/detection/families/single/recipe.js';
import { selectObjects } from '../../../../../src/detection/families/single/select-objects.js';
import type { Placement } from '../../../../../src/detection/image/placement.js';

const SELECTION: Selection = {
  scoreThreshold: 0.25,
  labels: 'best',
  candidates: 10,
  nms: { threshold: 0.5, classes: 'each' },
  perImage: 10,
  clip: 'image',
};
const CATEGORIES = [
  { id: 7, name: 'cat' },
  { id: 3, name: 'dog' },
];

/** Twice as large, 4 right of the corner. */
const PLACEMENT: Placement = {
  original: { height: 10, width: 20 },
  scaled: { height: 20, width: 40 },
  input: { height: 48, width: 48 },
  left: 4,
  top: 0,
  scaleX: 2,
  scaleY: 2,
};

type Row = readonly [score: number, label: number, x1: number, y1: number, x2: number, y2: number];

const candidates = (...rows: readonly Row[]): Candidates => ({
  boxes: Float32Array.from(rows.flatMap(([, , ...box]) => box)),
  scores: Float32Array.from(rows, ([score]) => score),
  classes: Int32Array.from(rows, ([, label]) => label),
});

function select(found: Candidates, change: Partial<Selection> = {}) {
  const { boxes, scores, labels } = selectObjects(found, PLACEMENT, { selection: { ...SELECTION, ...change }, categories: CATEGORIES });
  return Array.from(scores, (score, i) => [score, labels[i], ...boxes.subarray(4 * i, 4 * i + 4)]);
}

describe('selecting objects', () => {
  it('gives the best first, with category ids, mapped back into the image and clipped to it', () => {
    expect(select(candidates([0.5, 0, 4, 0, 14, 10], [0.75, 1, 0, 6, 48, 48]))).toEqual([
      [0.75, 3, 0, 3, 20, 10],
      [0.5, 7, 0, 0, 5, 5],
    ]);
    expect(select(candidates([0.75, 1, 0, 6, 48, 48]), { clip: 'none' })).toEqual([[0.75, 3, -2, 3, 22, 24]]);
  });

  it('boxes of different classes suppress each other only with `nmsClasses: together`', () => {
    const found = candidates([0.75, 0, 4, 0, 24, 10], [0.5, 0, 4, 0, 22, 10], [0.375, 1, 4, 0, 22, 10]);
    expect(select(found).map(([score]) => score)).toEqual([0.75, 0.375]);
    expect(select(found, { nms: { threshold: 0.5, classes: 'together' } }).map(([score]) => score)).toEqual([0.75]);
    expect(select(found, { nms: 'none' })).toHaveLength(3);
    // An IoU of 0.9 is not above 0.9.
    expect(select(found, { nms: { threshold: 0.9, classes: 'together' } })).toHaveLength(2);
  });

  it('drops scores at the threshold, boxes that are not finite, and candidates beyond the limit', () => {
    const found = candidates(
      [0.25, 0, 4, 0, 6, 2],
      [0.75, 0, 4, 0, Number.POSITIVE_INFINITY, 2],
      [0.5, 0, 4, 0, 6, 2],
      [0.375, 1, 4, 0, 6, 2],
    );
    expect(select(found).map(([score]) => score)).toEqual([0.5, 0.375]);
    expect(select(found, { perImage: 1 }).map(([score]) => score)).toEqual([0.5]);
    expect(select(found, { candidates: 1 }).map(([score]) => score)).toEqual([0.5]);
    expect(select(candidates())).toEqual([]);
  });

  it('inclusive corners gain a pixel after mapping; masks are pasted into the boxes before it', () => {
    const found: Candidates = {
      ...candidates([0.5, 0, 4, 0, 10, 6]),
      corners: 'inclusive',
      masks: { kind: 'squares', side: 1, data: Float32Array.of(0.9), threshold: 0.5 },
    };
    const { boxes, masks } = selectObjects(found, PLACEMENT, { selection: { ...SELECTION, clip: 'none' }, categories: CATEGORIES });
    expect([...boxes]).toEqual([0, 0, 4, 4]);
    expect(masks.kind).toBe('runs');
  });
});
