/** Detections of two sides as the page compares them. */

import { matchResults } from '../../../src/web/page/results/match-results.js';
import { imageAt } from '../../../src/web/page/results/object-columns.js';

const bytes = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer;

const IMAGES = [
  { id: 1, width: 100, height: 80, file_name: 'a.png' },
  { id: 'b', width: 50, height: 40, file_name: 'b.png' },
];
const CATEGORIES = [
  { id: 3, name: 'cat' },
  { id: 7, name: 'dog' },
];
const TRUTH = [{ id: 1, image_id: 1, category_id: 3, bbox: [0, 0, 10, 10], area: 100, iscrowd: 1 }];
const dataset = JSON.stringify({ images: IMAGES, categories: CATEGORIES, annotations: TRUTH });
const result = (image_id: number | string, category_id: number, bbox: readonly number[], score: number) => ({
  image_id,
  category_id,
  bbox,
  score,
});
const match = (left: object | string, right: object | string) => {
  const [one, other] = [left, right].map(side => bytes(typeof side === 'string' ? side : JSON.stringify(side)));
  const { result } = matchResults({ left: one ?? bytes(''), right: other ?? bytes(''), annotations: bytes(dataset) });
  return { ...result, rows: result.images.map((_, index) => imageAt(result, index)) };
};

describe('detections of two sides', () => {
  const box = [10, 10, 20, 20];

  it.each([
    ['equal: the same box and score', result(1, 3, box, 0.9), result(1, 3, box, 0.85), ['equal']],
    ['changed: the score differs by more than 0.1', result(1, 3, box, 0.9), result(1, 3, box, 0.75), ['changed']],
    ['equal: the IoU is 18/22, above 0.8', result(1, 3, box, 0.9), result(1, 3, [12, 10, 20, 20], 0.9), ['equal']],
    ['changed: the IoU is 17/23', result(1, 3, box, 0.9), result(1, 3, [13, 10, 20, 20], 0.9), ['changed']],
    ['lost and found: the classes differ', result(1, 3, box, 0.9), result(1, 7, box, 0.9), ['lost', 'found']],
    ['lost and found: the IoU is below 0.5', result(1, 3, box, 0.9), result(1, 3, [25, 10, 20, 20], 0.9), ['lost', 'found']],
  ])('%s', (_what, left, right, kinds) => {
    const { rows } = match([left], [right]);
    expect(rows.map(({ id }) => id)).toEqual(['1']);
    expect(rows[0]?.objects.map(({ kind }) => kind)).toEqual(kinds);
  });

  it('keep ids that are text, the crowd of the ground truth, and totals per kind', () => {
    const { rows, categories, totals } = match([result('b', 7, box, 0.5)], [result(1, 3, box, 0.5)]);
    expect(rows.map(({ id, file }) => [id, file])).toEqual([
      ['1', 'a.png'],
      ['b', 'b.png'],
    ]);
    expect(rows[0]?.truth).toEqual([{ box: [0, 0, 10, 10], category: '3', score: 1, crowd: true }]);
    expect(categories).toEqual([
      { id: '3', name: 'cat' },
      { id: '7', name: 'dog' },
    ]);
    expect(totals).toEqual({ equal: 0, changed: 0, lost: 1, found: 1 });
  });

  it('have the box, score and IoU of each side, and a class that the data set lacks', () => {
    const { rows, categories } = match([result(1, 9, box, 0.9)], [result(1, 9, [12, 10, 20, 20], 0.5)]);
    expect(rows[0]?.objects).toEqual([
      {
        index: 0,
        kind: 'changed',
        left: { box, category: '9', score: 0.9, crowd: false },
        right: { box: [12, 10, 20, 20], category: '9', score: 0.5, crowd: false },
        iou: expect.closeTo(18 / 22, 6),
      },
    ]);
    expect(categories.at(-1)).toEqual({ id: '9', name: 'class 9' });
  });

  it('without any detection list every image', () => {
    expect(match([], []).rows.map(({ id }) => id)).toEqual(['1', 'b']);
  });

  it('are read as evaluation reads them: NaN is a score, and an image that the data set lacks is an error', () => {
    const text = JSON.stringify([result(1, 3, box, 0.5)]).replace('0.5', 'NaN');
    expect(match(text, []).totals).toMatchObject({ lost: 1 });
    expect(() => match([result(9, 3, box, 0.5)], [])).toThrow('refers to image 9');
    expect(() => match({}, [])).toThrow('should be a list');
  });
});
