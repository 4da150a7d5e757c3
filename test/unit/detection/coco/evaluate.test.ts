/** Parsing, writing and evaluation of COCO data, with pycocotools' results. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Json, JsonObject } from '../../../../src/base/json.js';
import { parseCocoDataset } from '../../../../src/detection/coco/dataset.js';
import { type CocoFigures, evaluateCoco } from '../../../../src/detection/coco/evaluate.js';
import { COCO_FIGURE_NAMES } from '../../../../src/detection/coco/figure-names.js';
import { COCO_PARAMS, type IouType } from '../../../../src/detection/coco/params.js';
import { encodeCocoResults, parseCocoResults } from '../../../../src/detection/coco/results.js';
import { failureOf } from '../../../support/error-code.js';
import { fixturePath } from '../../../support/fixtures.js';
import { maxDifference } from '../../../support/max-difference.js';

const parse = (text: string | Buffer): Json => JSON.parse(String(text)) as Json;
const statsOf = (figures: CocoFigures): number[] => COCO_FIGURE_NAMES.map(name => figures[name]);

const image: JsonObject = { id: 5, width: 8, height: 6, file_name: 'a/5.jpg' };
const category: JsonObject = { id: 2, name: 'ring' };
const annotation: JsonObject = {
  id: 1,
  image_id: 5,
  category_id: 2,
  iscrowd: 0,
  area: 4,
  bbox: [1, 1, 2, 2],
  segmentation: [[1, 1, 3, 1, 3, 3, 1, 3]],
};
const result: JsonObject = { image_id: 5, category_id: 2, score: 0.5, bbox: [1, 1, 2, 2] };

function datasetJson(change: { images?: Json; categories?: Json; annotations?: Json } = {}): JsonObject {
  return { images: [image], categories: [category], annotations: [annotation], ...change };
}

const annotated = (change: JsonObject): JsonObject => datasetJson({ annotations: [{ ...annotation, ...change }] });

function without(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

describe('figures', () => {
  const dataset = parseCocoDataset(parse(readFileSync(resolve(fixturePath(), '../../examples/shapes/data/instances_val.json'))));
  const detections = parse(gunzipSync(readFileSync(fixturePath('detection', 'shapes-detections.json.gz'))));
  const recorded = parse(readFileSync(fixturePath('detection', 'shapes-figures.json'))) as unknown as {
    figures: Record<IouType, CocoFigures>;
  };

  it.each(['bbox', 'segm'] as const)('200 images, %s: equal to pycocotools', iouType => {
    const figures = evaluateCoco(dataset, parseCocoResults(detections, dataset), iouType);
    // The same operations in double precision; only the order of the final sums differs.
    expect(maxDifference(statsOf(figures), statsOf(recorded.figures[iouType]))).toBeLessThan(1e-9);
  });

  it('results written and read again are the same, and written the same', () => {
    const results = parseCocoResults(detections, dataset);
    const text = encodeCocoResults(results);
    expect(parseCocoResults(parse(text), dataset)).toEqual(results);
    expect(parse(text)).toEqual(detections);
  });

  it('without a detection everything is 0, and −1 for categories without objects', () => {
    const figures = evaluateCoco(parseCocoDataset(datasetJson()), [], 'bbox');
    expect([figures.AP, figures.AR100, figures.APsmall, figures.APlarge]).toEqual([0, 0, 0, -1]);
  });

  it('a detection inside a crowd counts neither for nor against', () => {
    const crowd = { ...annotation, id: 2, iscrowd: 1, bbox: [4, 0, 4, 6] };
    const truth = parseCocoDataset(datasetJson({ annotations: [annotation, crowd] }));
    const results = parseCocoResults(
      [{ ...result, score: 0.9, bbox: [5, 1, 2, 2] }, { ...result, score: 0.8, bbox: [6, 3, 2, 2] }, result],
      truth,
    );
    expect(evaluateCoco(truth, results, 'bbox').AP).toBeCloseTo(1, 12);
  });
});

describe('files that are refused', () => {
  it.each([
    ['images missing', without(datasetJson(), 'images'), 'coco-field'],
    ['a list as the file', [], 'coco-field'],
    ['an annotation without area', datasetJson({ annotations: [without(annotation, 'area')] }), 'coco-field'],
    ['an annotation without iscrowd', datasetJson({ annotations: [without(annotation, 'iscrowd')] }), 'coco-field'],
  ])('annotations: %s', async (_what, json, code) => {
    expect((await failureOf(() => parseCocoDataset(json))).code).toBe(code);
  });

  it.each([
    ['a polygon of two points', annotated({ segmentation: [[1, 1, 2, 2]] })],
    ['a polygon far outside', annotated({ segmentation: [[1, 1, 1e9, 1, 1e9, 1e8]] })],
    ['a polygon that goes to and fro', annotated({ segmentation: [Array.from({ length: 100_000 }, (_, i) => (i % 4 < 2 ? -30 : 30))] })],
    ['text as segmentation', annotated({ segmentation: 'x' })],
    ['too many pixels', annotated({ segmentation: { size: [6, 8], counts: [40, 9] } })],
    ['negative run lengths', annotated({ segmentation: { size: [6, 8], counts: [-1, 49] } })],
    ['damaged compressed run lengths', annotated({ segmentation: { size: [6, 8], counts: 'o' } })],
  ])('annotations: %s, where masks are evaluated', async (_what, json) => {
    const dataset = parseCocoDataset(json);
    expect(evaluateCoco(dataset, [], 'bbox').AP).toBe(0);
    expect((await failureOf(() => evaluateCoco(dataset, [], 'segm'))).code).toBe('coco-segmentation');
  });

  it.each([
    ['an object as the file', {}, 'coco-field'],
    ['a score missing', [without(result, 'score')], 'coco-field'],
    ['neither box nor mask', [without(result, 'bbox')], 'coco-field'],
    ['an unknown image', [{ ...result, image_id: 7 }], 'coco-unknown-image'],
  ])('results: %s', async (_what, json, code) => {
    expect((await failureOf(() => parseCocoResults(json, parseCocoDataset(datasetJson())))).code).toBe(code);
  });

  it('the message names place and content', async () => {
    const { message } = await failureOf(() => parseCocoDataset(annotated({ area: 'large' })));
    expect(message).toBe('annotations[0].area should be a number, it is "large"');
  });

  it('figures for masks of an annotation without one', async () => {
    const boxesOnly = parseCocoDataset(datasetJson({ annotations: [without(annotation, 'segmentation')] }));
    expect((await failureOf(() => evaluateCoco(boxesOnly, [], 'segm'))).code).toBe('coco-no-region');
  });

  it.each([{ maxDetections: [1, 10] }, { maxDetections: [10, 1, 100] }, { iouThresholds: [] }])('parameters %j', async change => {
    const run = () => evaluateCoco(parseCocoDataset(datasetJson()), [], 'bbox', { ...COCO_PARAMS, ...change });
    expect((await failureOf(run)).code).toBe('coco-params');
  });
});
