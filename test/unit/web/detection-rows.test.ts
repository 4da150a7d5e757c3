/** Detections that come as rows: they match as those of whole files, and their masks are fetched from the files. */
import fc from 'fast-check';
import { getDefined } from '../../../src/base/invariant.js';
import { openRowScanner } from '../../../src/detection/coco/row-scanner.js';
import { readDatasetRows, readDetectionRows } from '../../../src/web/page/results/detection-columns.js';
import { FileChanged, NotFetched, type ReadBytes } from '../../../src/web/page/results/fetched-file.js';
import { outlineMasks } from '../../../src/web/page/results/image-masks.js';
import { fetchMasks } from '../../../src/web/page/results/mask-places.js';
import { type Matched, matchResults, matchSides } from '../../../src/web/page/results/match-results.js';

const bytesOf = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer;

function rowsOf(text: string): ArrayBuffer {
  const scanner = openRowScanner();
  const blocks = [scanner.push(Buffer.from(text)), scanner.end()].map(block => block ?? new Uint8Array(0));
  return Uint8Array.from(Buffer.concat(blocks)).buffer;
}

interface Files {
  readonly left: string;
  readonly right: string;
  readonly annotations: string;
}

function matchRows({ left, right, annotations }: Files): Matched {
  const dataset = getDefined(readDatasetRows(rowsOf(annotations)), 'the data set');
  const side = (text: string) => getDefined(readDetectionRows(rowsOf(text), dataset), 'the detections');
  return matchSides(dataset, [side(left), side(right)]);
}

const reader =
  (text: string): ReadBytes =>
  async (start, end) =>
    bytesOf(text).slice(start, end);

const coordinate = fc.integer({ min: 0, max: 40 });
const box = fc.tuple(coordinate, coordinate, coordinate, coordinate);
const mask = fc.constantFrom(
  undefined,
  [[1, 1, 8, 1, 8, 8, 1, 8]],
  { size: [60, 80], counts: [100, 5, 55, 5, 4635] },
  { size: [60, 80], counts: '!!' },
);
const detection = fc.record({
  image_id: fc.integer({ min: 1, max: 4 }),
  category_id: fc.integer({ min: 1, max: 4 }),
  bbox: box,
  score: fc.constantFrom(0.1, 0.5, 0.55, 0.9),
  mask_score: fc.constantFrom(undefined, 0.2, 0.9),
  segmentation: mask,
});
const truth = fc.record({
  image_id: fc.integer({ min: 1, max: 6 }),
  category_id: fc.integer({ min: 1, max: 5 }),
  bbox: box,
  area: coordinate,
  iscrowd: fc.constantFrom(0, 1),
  segmentation: mask,
});
const files = fc.record({ left: fc.array(detection), right: fc.array(detection), truth: fc.array(truth) }).map(
  ({ left, right, truth: objects }): Files => ({
    left: JSON.stringify(left),
    right: JSON.stringify(right),
    annotations: JSON.stringify({
      images: [4, 1, 2, 3].map(id => ({ id, width: 80, height: 60, file_name: `${id}.png` })),
      categories: [1, 3, 2].map(id => ({ id, name: `class ${id} of the file` })),
      annotations: objects.map((one, index) => ({ id: index + 1, ...one })),
    }),
  }),
);

describe('detections as rows', () => {
  it('match as whole files do, with the same masks', async () => {
    await fc.assert(
      fc.asyncProperty(files, async given => {
        const whole = matchResults({ left: bytesOf(given.left), right: bytesOf(given.right), annotations: bytesOf(given.annotations) });
        const rows = matchRows(given);
        expect(rows.result).toEqual(whole.result);
        const readers = { left: reader(given.left), right: reader(given.right), annotations: reader(given.annotations) };
        for (const index of whole.result.images.keys()) {
          const [wanted, found] = [whole.masksAt(index), rows.masksAt(index)].map(image => getDefined(image, 'image'));
          expect(await outlineMasks(getDefined(found, 'image'), readers)).toEqual(await outlineMasks(getDefined(wanted, 'image')));
        }
      }),
    );
  });

  const images = [{ id: 1, width: 8, height: 8, file_name: 'a.png' }];
  const dataset = { images, categories: [{ id: 1, name: 'one' }], annotations: [] };
  it.each([
    ['an image that the data set lacks', [{ image_id: 2, category_id: 1, bbox: [0, 0, 1, 1], score: 1 }]],
    ['an instances file', dataset],
  ])('are read from the file where they are of %s', (_what, file) => {
    const known = getDefined(readDatasetRows(rowsOf(JSON.stringify(dataset))), 'the data set');
    expect(readDetectionRows(rowsOf(JSON.stringify(file)), known)).toBeUndefined();
  });

  it.each([
    [
      'repeated ids',
      JSON.stringify({
        ...dataset,
        annotations: [7, 7].map(id => ({ id, image_id: 1, category_id: 1, bbox: [0, 0, 1, 1], area: 1, iscrowd: 0 })),
      }),
    ],
    ['a list of results', '[]'],
    ['members that are no JSON', '{"annotations":[],"images":[}'],
  ])('leave a data set with %s to the file', (_what, text) => {
    expect(readDatasetRows(rowsOf(text))).toBeUndefined();
  });
});

describe('masks of rows', () => {
  const canvas = { id: 1, width: 8, height: 8 };
  const at = (start: number, end: number) => ({ kind: 'unread', json: { bytes: [start, end] }, canvas, place: 'here' }) as const;

  it('that lie together are fetched at once, and others apart', async () => {
    const text = `[1]  [2]${' '.repeat(20_000)}[3]`;
    const asked: (readonly [number, number])[] = [];
    const masks = [at(20_008, 20_011), at(5, 8), at(0, 3)];
    const { contents: found, problem } = await fetchMasks(masks, (start, end) => {
      asked.push([start, end]);
      return reader(text)(start, end);
    });
    expect(asked).toEqual([
      [0, 8],
      [20_008, 20_011],
    ]);
    expect(problem).toBeUndefined();
    expect(masks.map(mask => found.get(mask))).toMatchObject([{ json: [3] }, { json: [2] }, { json: [1] }]);
  });

  const LARGE = 16_000_001;
  /** As the server does, which gives no larger range. */
  const readSome: ReadBytes = (start, end) =>
    end - start < LARGE ? reader(`${' '.repeat(start)}[[1,1,3,1,3,3,1,3]]`)(start, end) : Promise.reject(new NotFetched('too many bytes'));

  it.each([
    ['too large for the server', at(40_000, 40_000 + LARGE), 'too many bytes'],
    ['no JSON', at(21, 22), 'JSON'],
  ])('of an image stay where one of them is %s, with the reason', async (_what, lost, reason) => {
    const near = at(0, 19);
    const { contents, problem } = await fetchMasks([lost, near], readSome);
    expect(problem).toContain(reason);
    expect([contents.has(lost), contents.get(lost)]).toEqual([true, undefined]);
    expect(contents.get(near)).toMatchObject({ json: [[1, 1, 3, 1, 3, 3, 1, 3]] });

    const image = { image: { ...canvas, fileName: 'a.png' }, left: [lost, near, undefined], right: [near], truth: [] };
    expect(await outlineMasks(image, { left: readSome, right: readSome, annotations: readSome })).toEqual({
      masks: { left: [undefined, 'M1 1L3 1L3 3L1 3Z', undefined], right: ['M1 1L3 1L3 3L1 3Z'], truth: [] },
      problem,
    });
  });

  it('of a file that is another one are an error for all', async () => {
    const isOther: ReadBytes = start => (start === 0 ? reader('[1]')(0, 3) : Promise.reject(new FileChanged('other')));
    await expect(fetchMasks([at(0, 3), at(40_000, 40_003)], isOther)).rejects.toThrow(FileChanged);
  });
});
