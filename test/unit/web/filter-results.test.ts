/** Filters of the view "Results", the list that it exports, and the masks that it draws. */
import fc from 'fast-check';
import { getDefined } from '../../../src/base/invariant.js';
import { outlineOf } from '../../../src/detection/coco/outline-path.js';
import { decodeMask, encodeMask, type Rle } from '../../../src/detection/masks/rle.js';
import { encodeRleText } from '../../../src/detection/masks/rle-text.js';
import { countOf, filterRows } from '../../../src/web/page/results/filter-rows.js';
import { outlineMasks } from '../../../src/web/page/results/image-masks.js';
import { matchResults } from '../../../src/web/page/results/match-results.js';
import { imageAt } from '../../../src/web/page/results/object-columns.js';
import { listObjects } from '../../../src/web/page/results/object-list.js';
import type { MatchResult } from '../../../src/web/page/results/result-types.js';

const bytes = (value: unknown): ArrayBuffer => new TextEncoder().encode(JSON.stringify(value)).buffer as ArrayBuffer;
const found = (image: number, category: number, score: number, bbox: readonly number[], more: object = {}) => ({
  image_id: image,
  category_id: category,
  score,
  bbox,
  ...more,
});

interface Given {
  readonly left: readonly object[];
  readonly right: readonly object[];
  readonly images?: readonly object[];
  readonly truth?: readonly object[];
}

function match({ left, right, images = [1, 2].map(id => ({ id, file_name: `${id}.png`, width: 200, height: 200 })), truth = [] }: Given) {
  const categories = [
    { id: 1, name: 'a, "b"' },
    { id: 2, name: 'two' },
  ];
  return matchResults({ left: bytes(left), right: bytes(right), annotations: bytes({ images, categories, annotations: truth }) });
}

describe('the filters', () => {
  const { result } = match({
    left: [found(1, 1, 0.9, [0, 0, 10, 10]), found(1, 2, 0.9, [50, 50, 40, 40]), found(2, 1, 0.5, [0, 0, 100, 100])],
    right: [found(1, 1, 0.2, [100, 100, 10, 10]), found(2, 1, 0.55, [0, 0, 100, 100])],
  });

  it.each([
    [{}, [1, 2], 4],
    [{ kind: 'lost' }, [1], 2],
    [{ kind: 'equal' }, [2], 1],
    [{ kind: 'lost', class: '1' }, [1], 1],
    [{ score: '0.5', class: '1' }, [1, 2], 2],
    [{ size: 'small' }, [1], 2],
    [{ size: 'medium' }, [1], 1],
    [{ size: 'large' }, [2], 1],
    [{ kind: 'constructor' }, [], 0],
    [{ class: '9' }, [], 0],
  ])('%j keep the images %j with %i objects', (query, images, objects) => {
    const filtered = filterRows(result, query as Record<string, string>);
    expect(filtered.images.map(image => Number(result.images[image]?.id))).toEqual(images);
    expect(filtered.kept.reduce((sum, one) => sum + one, 0)).toBe(objects);
    const counted = filtered.images.flatMap(image => [0, 1, 2, 3].map(kind => countOf(filtered, image, kind)));
    expect(counted.reduce((sum, one) => sum + one, 0)).toBe(objects);
  });

  it('keep what a plain definition keeps, for any objects', () => {
    const box = fc.tuple(...Array.from({ length: 4 }, () => fc.integer({ min: 0, max: 120 })));
    const side = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 2 }), fc.double({ min: 0, max: 1, noNaN: true }), box),
      {
        maxLength: 12,
      },
    );
    const query = fc.record(
      {
        kind: fc.constantFrom('lost', 'found', 'changed', 'equal'),
        class: fc.constantFrom('1', '2'),
        size: fc.constantFrom('small', 'medium', 'large'),
        score: fc.constantFrom('0.1', '0.7'),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(side, side, query, (left, right, wanted) => {
        const list = (rows: typeof left) => rows.map(([image, category, score, bbox]) => found(image, category, score, bbox));
        const { result: any } = match({ left: list(left), right: list(right) });
        const filtered = filterRows(any, wanted as Record<string, string>);
        expect(keptOf(any, filtered.kept)).toEqual(plainly(any, wanted));
      }),
    );
  });
});

/** Objects of all images, as their index. */
function keptOf({ objects }: MatchResult, kept: Uint8Array): readonly number[] {
  return [...objects.kinds.keys()].filter(at => kept[at] === 1);
}

/** By the objects of each image, one after the other. */
function plainly(result: MatchResult, wanted: { kind?: string; class?: string; size?: string; score?: string }): readonly number[] {
  return result.images
    .flatMap((_, image) => imageAt(result, image).objects)
    .filter(({ kind, left, right }) => {
      const own = getDefined(left ?? right, 'a side');
      const area = own.box[2] * own.box[3];
      const size = area < 1024 ? 'small' : area < 9216 ? 'medium' : 'large';
      const score = Math.max(left?.score ?? 0, right?.score ?? 0);
      return (
        (wanted.kind ?? kind) === kind &&
        (wanted.class ?? own.category) === own.category &&
        (wanted.size ?? size) === size &&
        score >= Number(wanted.score ?? 0)
      );
    })
    .map(({ index }) => index);
}

it('exports one line per object that is kept, quoted, and no text that a spreadsheet would compute', () => {
  const images = [{ id: 7, file_name: '=SUM(1).jpg', width: 9, height: 9 }];
  const { result } = match({
    images,
    left: [found(7, 1, 0.5, [1, 2, 3, 4.5]), found(7, 2, 0.25, [1, 2, 3, 4.5])],
    right: [found(7, 2, 0.75, [1, 2, 3, 4.5], { mask_score: 0.625 })],
  });
  const lines = listObjects(result, filterRows(result, {})).split('\r\n');
  expect(lines).toEqual([
    'image,file,kind,class,left score,right score,left mask score,right mask score,iou,x,y,width,height',
    `7,'=SUM(1).jpg,changed,two,0.25,0.75,,0.625,1,1,2,3,4.5`,
    `7,'=SUM(1).jpg,lost,"a, ""b""",0.5,,,,,1,2,3,4.5`,
    '',
  ]);
  expect(listObjects(result, filterRows(result, { kind: 'lost' })).split('\r\n')).toEqual([lines[0], lines[2], '']);
});

describe('masks', () => {
  const size = { width: 12, height: 9 };
  const segmentation = (rle: Rle) => ({ size: [rle.height, rle.width], counts: encodeRleText(rle) });

  it('are outlined so that the path, filled by the even-odd rule, is the mask', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 108, maxLength: 108 }), pixels => {
        const rle = encodeMask(pixels.map(Number), 9, 12);
        const path = outlineOf({ kind: 'rle', rle }, size);
        expect(fill(path ?? '', 9, 12)).toEqual([...decodeMask(rle)]);
      }),
    );
  });

  it('of an image are in the order of its objects, and of the ground truth', async () => {
    const square = (x: number): Rle =>
      encodeMask(
        Array.from({ length: 108 }, (_, at) => Number(at % 12 >= x && at % 12 < x + 2 && at < 24)),
        9,
        12,
      );
    const images = [{ id: 1, file_name: 'a.png', width: 12, height: 9 }];
    const { masksAt, result } = match({
      images,
      left: [found(1, 1, 0.5, [0, 0, 2, 2], { segmentation: segmentation(square(0)) }), found(1, 2, 0.9, [4, 0, 2, 2])],
      right: [found(1, 2, 0.9, [4, 0, 2, 2], { segmentation: segmentation(square(4)) })],
      truth: [{ id: 1, image_id: 1, category_id: 1, bbox: [0, 0, 2, 2], area: 4, iscrowd: 0, segmentation: [[1, 1, 3, 1, 3, 3, 1, 3]] }],
    });
    expect(result.hasMasks).toBe(true);
    const { left, right, truth } = (await outlineMasks(getDefined(masksAt(0), 'image'))).masks;
    expect(imageAt(result, 0).objects.map(({ kind }) => kind)).toEqual(['equal', 'lost']);
    expect(left).toEqual([undefined, 'M0 0L2 0L2 2L0 2Z']);
    expect(right).toEqual(['M4 0L6 0L6 2L4 2Z', undefined]);
    expect(truth).toEqual(['M1 1L3 1L3 3L1 3Z']);
  });

  it.each([
    ['an empty one', encodeMask([], 9, 12)],
    ['one that covers more than 16 million pixels', { height: 5000, width: 5000, counts: Uint32Array.from([0, 25_000_000]) }],
  ])('give no path for %s', (_what, rle) => {
    expect(outlineOf({ kind: 'rle', rle }, size)).toBeUndefined();
  });

  it('that are invalid give no path', async () => {
    const { masksAt } = match({ left: [found(1, 1, 0.5, [0, 0, 2, 2], { segmentation: { size: [9, 12], counts: '!!' } })], right: [] });
    expect((await outlineMasks(getDefined(masksAt(0), 'image'))).masks.left).toEqual([undefined]);
  });
});

/** Pixels whose center a ray from the left enters an odd number of times: the definition of the even-odd rule. */
function fill(path: string, height: number, width: number): readonly number[] {
  const edges = path
    .split('Z')
    .filter(loop => loop !== '')
    .flatMap(loop => {
      const points = [...loop.matchAll(/[ML](\d+) (\d+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
      return points.map((point, at) => [point, points[(at + 1) % points.length] ?? point] as const);
    });
  return Array.from({ length: height * width }, (_, at) => {
    const [x, y] = [(at % width) + 0.5, Math.floor(at / width) + 0.5];
    const crossed = edges.filter(([[x1, y1], [, y2]]) => x1 < x && Math.min(y1, y2) < y && Math.max(y1, y2) > y);
    return crossed.length % 2;
  });
}
