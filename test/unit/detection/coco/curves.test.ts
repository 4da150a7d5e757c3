/** Precision-recall curves: precision and score threshold at each recall. */
import type { JsonObject } from '../../../../src/base/json.js';
import { parseCocoDataset } from '../../../../src/detection/coco/dataset.js';
import { measureCoco } from '../../../../src/detection/coco/measure.js';
import { listCurves } from '../../../../src/detection/coco/precision-recall.js';
import { parseCocoResults } from '../../../../src/detection/coco/results.js';
import { drawPrecisionRecall } from '../../../../src/report/precision-recall-picture.js';

const annotation = (id: number, x: number): JsonObject => ({
  id,
  image_id: 1,
  category_id: 3,
  iscrowd: 0,
  area: 400,
  bbox: [x, 0, 20, 20],
});
const dataset = parseCocoDataset({
  images: [{ id: 1, width: 100, height: 100 }],
  categories: [
    { id: 3, name: 'ring' },
    { id: 4, name: 'star' },
  ],
  annotations: [annotation(1, 0), annotation(2, 40)],
});
const detection = (x: number, score: number): JsonObject => ({ image_id: 1, category_id: 3, score, bbox: [x, 0, 20, 20] });
const results = parseCocoResults([detection(0, 0.9), detection(70, 0.8), detection(40, 0.7)], dataset);

it('half of the objects are found without a mistake, all of them with one of three', () => {
  const { recall, mean, categories } = listCurves(measureCoco(dataset, results, 'bbox'));
  expect(categories.map(({ category }) => category.name)).toEqual(['ring']);
  const [first] = categories[0]?.curves ?? [];
  expect(first?.iou).toBe(0.5);
  const at = (threshold: number): number => recall.findIndex(value => value >= threshold - 1e-9);
  // pycocotools adds the smallest difference of numbers to the divisor.
  expect(first?.precision[0]).toBeCloseTo(1, 12);
  expect(first?.precision[at(0.5)]).toBeCloseTo(1, 12);
  expect(first?.precision[at(0.51)]).toBeCloseTo(2 / 3, 12);
  expect([first?.scores?.[at(0.5)], first?.scores?.[at(0.51)], first?.scores?.[100]]).toEqual([0.9, 0.7, 0.7]);
  // One category has objects: the mean is its curve.
  expect(mean[0]?.precision).toEqual(first?.precision);
});

it('merged categories have one curve', () => {
  const { mean, categories } = listCurves(
    measureCoco(dataset, results, 'bbox', { ...measureCoco(dataset, [], 'bbox').params, categories: 'merged' }),
  );
  expect([mean.length, categories]).toEqual([10, []]);
});

it('names on a drawing are text, whatever they contain', () => {
  const drawing = drawPrecisionRecall('<script>', [{ name: 'a & b', precision: [1, 0.5] }]);
  expect(drawing).toContain('&lt;script&gt;');
  expect(drawing).toContain('a &amp; b');
  expect(drawing.match(/<path d="M56\.0 44\.0L496\.0 232\.0"/g)).toHaveLength(1);
});
