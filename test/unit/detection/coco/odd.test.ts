/** Odd COCO files, against what pycocotools 2.0.11 computes of them, and their warnings. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parsePythonJson } from '../../../../src/base/json/python-json.js';
import type { JsonObject } from '../../../../src/base/json.js';
import { compareIds } from '../../../../src/detection/coco/coco-id.js';
import { type CocoDataset, parseCocoDataset } from '../../../../src/detection/coco/dataset.js';
import { evaluateCoco, evaluateKeypoints, KEYPOINT_FIGURE_NAMES } from '../../../../src/detection/coco/evaluate.js';
import { COCO_FIGURE_NAMES } from '../../../../src/detection/coco/figure-names.js';
import { countOddities } from '../../../../src/detection/coco/oddities.js';
import type { OverlapType } from '../../../../src/detection/coco/params.js';
import { type CocoResult, encodeCocoResults, parseCocoResults } from '../../../../src/detection/coco/results.js';
import { measureSemantic } from '../../../../src/detection/coco/semantic.js';
import { listImages } from '../../../../src/detection/data/image-list.js';
import { failureOf } from '../../../support/error-code.js';
import { fixturePath } from '../../../support/fixtures.js';
import { maxDifference } from '../../../support/max-difference.js';

interface Recorded {
  readonly name: string;
  readonly type: OverlapType;
  /** Texts of files, with NaN. */
  readonly truth: string;
  readonly detections: string;
  readonly stats: readonly number[];
}

const recorded = ['odd-figures', 'odd-fields'].flatMap(
  name => JSON.parse(gunzipSync(readFileSync(fixturePath('detection', `${name}.json.gz`))).toString()) as unknown as readonly Recorded[],
);

it.each(recorded.map(one => [one.name, one.type, one] as const))('%s, %s: the figures are those of pycocotools', (_name, type, one) => {
  const dataset = parseCocoDataset(parsePythonJson(one.truth));
  const results = parseCocoResults(parsePythonJson(one.detections), dataset);
  // The same operations in double precision; only the order of the final sums differs.
  expect(maxDifference(figuresOf(dataset, results, type), one.stats)).toBeLessThan(1e-9);
});

function figuresOf(dataset: CocoDataset, results: readonly CocoResult[], type: OverlapType): readonly number[] {
  if (type === 'keypoints') {
    const figures = evaluateKeypoints(dataset, results);
    return KEYPOINT_FIGURE_NAMES.map(name => figures[name]);
  }
  const figures = evaluateCoco(dataset, results, type);
  return COCO_FIGURE_NAMES.map(name => figures[name]);
}

const image: JsonObject = { id: 5, width: 8, height: 6 };
const annotation: JsonObject = { id: 1, image_id: 5, category_id: 2, iscrowd: 0, area: 4, bbox: [1, 1, 2, 2] };
const file = (annotations: readonly JsonObject[], images: readonly JsonObject[] = [image]): JsonObject => ({
  images,
  categories: [{ id: 2, name: 'ring' }],
  annotations,
});
const result: JsonObject = { image_id: 5, category_id: 2, score: 0.5, bbox: [1, 1, 2, 2] };

describe('warnings', () => {
  it('have a count and the first place', () => {
    const oddities = countOddities();
    const odd = [
      { ...annotation, id: 2, image_id: 6 },
      { ...annotation, id: 3, image_id: 7 },
      { ...annotation, id: 4, category_id: 9 },
      { ...annotation, id: 5, segmentation: { size: [12, 16], counts: [4, 2] } },
      { ...annotation, id: 6, segmentation: { size: [6, 8], counts: [40, 9] } },
      { ...annotation, id: 7, segmentation: [[1, 1, 3, 1, 3, 3, 1]] },
      { ...annotation, iscrowd: 2 },
    ];
    parseCocoDataset(file([annotation, ...odd], [image, image, { id: 8 }]), oddities.note);
    expect(oddities.list()).toEqual([
      '1 image without a valid width and height; no polygon can be drawn there (images[2])',
      '1 image with the id of a later image, which counts instead (images[0])',
      '2 annotations of an image that the file does not have, ignored (first: annotations[1]: image 6)',
      '1 annotation of a category that the file does not have, ignored (annotations[3]: category 9)',
      '1 mask with another size than the image; it overlaps only masks of equal size (annotations[4].segmentation: 12×16, its image is 6×8 (height×width))',
      '1 segmentation with an error; figures of masks cannot use it (annotations[5].segmentation run lengths add up to 49 pixels, the mask has 6×8 = 48)',
      '1 polygon with an odd number of coordinates; the last one is dropped (annotations[6].segmentation[0])',
      '1 annotation with an iscrowd other than 0 and 1, taken as pycocotools does (annotations[7].iscrowd: 2)',
      '1 annotation with the id of a later annotation, which counts instead, as in pycocotools (annotations[0]: id 1)',
    ]);
  });

  it('name a crowd without an area, and what a later annotation replaces needs no more than its ids', () => {
    const oddities = countOddities();
    const { area: _, ...crowd }: JsonObject = { ...annotation, id: 3, iscrowd: 1 };
    const { iscrowd: __, ...replaced } = annotation;
    const { annotations } = parseCocoDataset(file([replaced, annotation, crowd]), oddities.note);
    // As in pycocotools, the last of two equal ids counts twice.
    expect(annotations.map(({ id, kind, area }) => [id, kind, area])).toEqual([
      [1, 'object', 4],
      [1, 'object', 4],
      [3, 'crowd', undefined],
    ]);
    expect(oddities.list()).toEqual([
      '1 crowd without an area; it belongs to every size (annotations[2])',
      '1 annotation with the id of a later annotation, which counts instead, as in pycocotools (annotations[0]: id 1)',
    ]);
  });

  it('name NaN scores', () => {
    const oddities = countOddities();
    const dataset = parseCocoDataset(file([annotation]));
    parseCocoResults(parsePythonJson('[{"image_id": 5, "category_id": 2, "score": NaN, "bbox": [1, 1, 2, 2]}]'), dataset, oddities.note);
    expect(oddities.list()).toEqual(['1 value of NaN or infinity; a score of NaN ranks last (result 0.score)']);
  });
});

describe('what a figure needs is an error where it is missing', () => {
  const broken = { ...annotation, segmentation: { size: [6, 8], counts: [40, 9] } };

  it('an invalid mask, for masks only', async () => {
    const dataset = parseCocoDataset(file([broken]));
    const results = parseCocoResults([result], dataset);
    expect(evaluateCoco(dataset, results, 'bbox').AP).toBeCloseTo(1, 12);
    expect(await failureOf(() => evaluateCoco(dataset, results, 'segm'))).toMatchObject({
      code: 'coco-segmentation',
      message: 'annotations[0].segmentation run lengths add up to 49 pixels, the mask has 6×8 = 48',
    });
  });

  it('the area of an object that only figures of keypoints leave out', async () => {
    const { area: _, ...unlabeled }: JsonObject = { ...annotation, num_keypoints: 0 };
    const oddities = countOddities();
    const dataset = parseCocoDataset(file([unlabeled]), oddities.note);
    expect(oddities.list()).toEqual([
      '1 object without an area, which figures of keypoints do not count; others cannot use it (annotations[0])',
    ]);
    expect(evaluateKeypoints(dataset, []).AP).toBe(-1);
    expect(await failureOf(() => evaluateCoco(dataset, [], 'bbox'))).toMatchObject({
      code: 'coco-no-region',
      message: 'annotation 1 has no area, which these figures need',
    });
  });

  it('keypoints that are no points, where an object and a detection meet', async () => {
    const points = { ...result, keypoints: Array.from({ length: 51 }, () => 1) };
    const dataset = parseCocoDataset(file([{ ...annotation, keypoints: 'none', num_keypoints: 3 }]));
    expect(evaluateKeypoints(dataset, []).AP).toBe(0);
    expect(evaluateCoco(dataset, parseCocoResults([points], dataset), 'bbox').AP).toBeCloseTo(1, 12);
    expect(await failureOf(() => evaluateKeypoints(dataset, parseCocoResults([points], dataset)))).toMatchObject({
      code: 'coco-field',
      message: 'annotations[0].keypoints should be a list of x, y and visibility per point, it is "none"',
    });
  });

  it.each(['../secret.jpg', '/etc/secret.jpg'])('the file name %s, only for what reads images', async name => {
    const oddities = countOddities();
    const odd = file([annotation], [{ ...image, file_name: name }]);
    expect(parseCocoDataset(odd, oddities.note).images[0]?.fileName).toBeUndefined();
    expect(oddities.list()[0]).toContain(`images[0].file_name "${name}" is outside of the image folder`);
    expect(await failureOf(() => listImages(odd))).toMatchObject({ code: 'coco-file-name' });
  });

  it.each([{ id: 5 }, { id: 5, width: 1e6, height: 1e6 }])('polygons in the image %j, which has no size that can be drawn', async size => {
    const dataset = parseCocoDataset(file([{ ...annotation, segmentation: [[1, 1, 3, 1, 3, 3]] }], [size]));
    expect(await failureOf(() => evaluateCoco(dataset, [], 'segm'))).toMatchObject({
      code: 'coco-segmentation',
      message: 'image 5 has no valid width and height, which its polygons need',
    });
  });

  it('a mask of another size, for pixels', async () => {
    const dataset = parseCocoDataset(file([{ ...annotation, segmentation: { size: [12, 16], counts: [4, 2] } }]));
    expect((await failureOf(() => measureSemantic(dataset, [], 0.5))).code).toBe('coco-segmentation');
  });

  it('a result without a box where the first has one', async () => {
    const mask = { image_id: 5, category_id: 2, score: 0.4, segmentation: { size: [6, 8], counts: [7, 2] } };
    const dataset = parseCocoDataset(file([annotation]));
    expect(await failureOf(() => parseCocoResults([result, mask], dataset))).toMatchObject({
      code: 'coco-no-region',
      message: expect.stringContaining('result 1 has no bbox') as unknown,
    });
    expect(parseCocoResults([mask, result].slice(0, 1), dataset)).toHaveLength(1);
  });

  it('an invalid mask is written as it was read', () => {
    const dataset = parseCocoDataset(file([annotation]));
    const odd = { ...result, segmentation: { size: [6, 8], counts: [40, 9] } };
    expect(JSON.parse(encodeCocoResults(parseCocoResults([odd], dataset)))).toEqual([odd]);
  });
});

describe('ids', () => {
  it('beyond 2⁵³ that differ in their last digit are different', () => {
    const truth = parsePythonJson(
      '{"images": [{"id": 9007199254740993}, {"id": 9007199254740992}], "categories": [], "annotations": [], "note": "NaN 12345678901234567890"}',
    );
    expect(parseCocoDataset(truth).images.map(({ id }) => id)).toEqual(['9007199254740993', '9007199254740992']);
    expect(truth).toMatchObject({ note: 'NaN 12345678901234567890' });
  });

  it('are ordered by value', () => {
    const ids = ['b', 3, '10000000000000000000', null, '9007199254740993', -1.5, 'a'];
    expect(ids.sort(compareIds)).toEqual([null, -1.5, 3, '9007199254740993', '10000000000000000000', 'a', 'b']);
  });
});
