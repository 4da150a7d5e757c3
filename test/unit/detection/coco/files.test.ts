/** Reading of annotation and result files of any size, and errors for invalid files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { isCodedError } from '../../../../src/base/coded-error.js';
import { readListElements } from '../../../../src/base/json/json-elements.js';
import type { Json } from '../../../../src/base/json.js';
import { parseCocoDataset } from '../../../../src/detection/coco/dataset.js';
import { evaluateCoco } from '../../../../src/detection/coco/evaluate.js';
import { COCO_PARAMS } from '../../../../src/detection/coco/params.js';
import { readCocoDataset, readCocoResults } from '../../../../src/detection/coco/read-files.js';
import { makeResultParser } from '../../../../src/detection/coco/results.js';
import { failureOf } from '../../../support/error-code.js';

const annotation = { id: 1, image_id: 5, category_id: 2, iscrowd: 0, area: 100, bbox: [10, 10, 10, 10] };
const truth = {
  images: [{ id: 5, width: 64, height: 48 }],
  // Ids with gaps.
  categories: [
    { id: 2, name: 'ring' },
    { id: 40, name: 'star' },
  ],
  annotations: [annotation],
};
const dataset = parseCocoDataset(truth);
const found = { image_id: 5, category_id: 2, score: 0.9, bbox: [10, 10, 10, 10] };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-coco-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(text: string): string {
  const path = join(folder, 'bad.json');
  writeFileSync(path, text);
  return path;
}

describe('result files', () => {
  it.each([
    ['[{"image_id": 5,', 'coco-malformed', 'bad.json is truncated after 0 results'],
    ['[{"image_id": 5}, {"image_id" 9}]', 'coco-malformed', 'bad.json is not valid JSON in result 1: '],
    ['[{"image_id": 5}, ]', 'coco-malformed', 'bad.json is not valid JSON in result 1: '],
    ['[,]', 'coco-malformed', 'bad.json is not valid JSON in result 0: '],
    ['[}]', 'coco-malformed', 'bad.json is not valid JSON in result 0: '],
    ['{"annotations": {}}', 'coco-malformed', 'bad.json is neither a list of results nor a document with a list of annotations'],
    ['7', 'coco-malformed', 'bad.json is neither a list of results'],
    ['[] []', 'coco-malformed', 'bad.json has content after the end'],
    ['', 'coco-malformed', 'bad.json is not valid JSON: '],
    [JSON.stringify({ annotations: [found, 7] }), 'coco-field', 'bad.json: result 1 should be an object, it is 7'],
    ['[7]', 'coco-field', 'bad.json: result 0 should be an object, it is 7'],
    [JSON.stringify([found, { ...found, image_id: 6 }]), 'coco-unknown-image', 'bad.json: result 1 refers to image 6'],
    [JSON.stringify([{ ...found, score: '0.9' }]), 'coco-field', 'bad.json: result 0.score should be a number, it is "0.9"'],
    [JSON.stringify([{ ...found, bbox: [1, 2, 3] }]), 'coco-field', 'bad.json: result 0.bbox should be four numbers'],
    [`[${'['.repeat(100_000)}${']'.repeat(100_000)}]`, 'coco-field', 'bad.json: result 0 should be an object, it is a list of 1'],
  ])('%.80s is refused', async (text, code, message) => {
    const failure = await readCocoResults(write(text), dataset).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code, message: expect.stringContaining(message) as unknown });
  });

  it('a score of -NaN is invalid JSON, in Python too', async () => {
    const path = write('[{"image_id": 5, "category_id": 2, "bbox": [1, 1, 1, 1], "score": -NaN}]');
    await expect(readCocoResults(path, dataset)).rejects.toMatchObject({ code: 'coco-malformed' });
  });

  it.each([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
  ])('a score of %s is read', async (text, score) => {
    const path = write(`[{"image_id": 5, "category_id": 2, "bbox": [1, 1, 1, 1], "score": ${text}}]`);
    expect(await readCocoResults(path, dataset)).toMatchObject([{ score }]);
  });

  it('a missing file is named', async () => {
    expect(await failureOf(() => readCocoResults(join(folder, 'absent.json'), dataset))).toMatchObject({ code: 'coco-unreadable' });
    expect(await failureOf(() => readCocoDataset(join(folder, 'absent.json')))).toMatchObject({ code: 'coco-unreadable' });
  });
});

it('a document that has the results as its annotations is read too', async () => {
  const path = write(JSON.stringify({ ...truth, annotations: [{ id: 1, ...found }] }));
  expect(await readCocoResults(path, dataset)).toEqual(await readCocoResults(write(JSON.stringify([found])), dataset));
});

describe('annotation files', () => {
  it.each([
    ['[]', 'coco-field'],
    ['{"images": [', 'coco-malformed'],
    [JSON.stringify({ ...truth, annotations: [{ ...annotation, id: [1] }] }), 'coco-field'],
  ])('%s is refused', async (text, code) => {
    expect(await failureOf(() => readCocoDataset(write(text)))).toMatchObject({ code });
  });
});

describe('whatever a file holds', () => {
  /** Values as they should be, and as they should not. */
  const anything = fc.oneof(fc.constantFrom<Json>(5, 2, 0.5, 1, 0), fc.jsonValue() as fc.Arbitrary<Json>);
  const counts = fc.oneof(fc.string(), fc.array(fc.oneof(fc.nat(4000), fc.double())), anything);
  const size = fc.oneof(fc.constant<Json>([48, 64]), anything);
  const segmentation = fc.oneof(fc.array(fc.array(fc.double())), fc.record({ size, counts }), anything) as fc.Arbitrary<Json>;
  const entry = fc.record(
    {
      id: anything,
      image_id: anything,
      category_id: anything,
      iscrowd: anything,
      area: anything,
      score: anything,
      bbox: anything,
      segmentation,
    },
    { requiredKeys: ['image_id', 'category_id'] },
  ) as fc.Arbitrary<Json>;

  it('a result is read or refused with a code', () => {
    const parse = makeResultParser(dataset);
    fc.assert(
      fc.property(fc.oneof(entry, anything), one => {
        expect(codeOf(() => parse(one, 0))).toMatch(/^(read|coco-(field|unknown-image|segmentation))$/);
      }),
    );
  });

  it('a data set is read or refused with a code', () => {
    const list = fc.oneof(fc.array(entry, { maxLength: 3 }), anything) as fc.Arbitrary<Json>;
    const file = fc.record({
      images: fc.constantFrom<Json>(truth.images, []),
      categories: fc.constant<Json>(truth.categories),
      annotations: list,
    });
    fc.assert(
      fc.property(fc.oneof(file as fc.Arbitrary<Json>, anything), one => {
        expect(codeOf(() => parseCocoDataset(one))).toMatch(/^(read|coco-[a-z-]+)$/);
      }),
    );
  });
});

function codeOf(read: () => unknown): string {
  try {
    read();
    return 'read';
  } catch (error) {
    if (isCodedError(error)) return error.code;
    throw error;
  }
}

describe('lists element by element', () => {
  const list: Json = [{ text: 'a "quoted", [bracket] and \\ "' }, [], 'end]', 3.5, null, { deep: [[{ é: '日本' }]] }];

  it.each([1, 2, 3, 7, 1000])('in chunks of %d bytes', async size => {
    const bytes = Buffer.from(`\uFEFF ${JSON.stringify(list, undefined, 1)}\n`);
    async function* chunks() {
      for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
    }
    const elements: Json[] = [];
    for await (const some of readListElements(chunks())) elements.push(...some);
    expect(elements).toEqual(list);
  });
});

it('of 1,000 detections in an image the best 100 of a category count', async () => {
  const many = Array.from({ length: 1000 }, (_, i) => ({ ...found, score: (i + 1) / 1000, bbox: i === 899 ? found.bbox : [0, 0, 2, 2] }));
  const results = await readCocoResults(write(JSON.stringify(many)), dataset);
  expect(results).toHaveLength(1000);
  expect(evaluateCoco(dataset, results, 'bbox').AR100).toBe(0);
  expect(evaluateCoco(dataset, results, 'bbox', { ...COCO_PARAMS, maxDetections: [1, 10, 101] }).AR100).toBe(1);
});
