/** The figures of keypoints, against figures of the published formulas in numpy, and similarities worked out by hand. */
import { readFileSync } from 'node:fs';
import type { Json } from '../../../../src/base/json.js';
import { parseCocoDataset } from '../../../../src/detection/coco/dataset.js';
import { KEYPOINT_FIGURE_NAMES, summarizeKeypoints } from '../../../../src/detection/coco/evaluate.js';
import { computeOks } from '../../../../src/detection/coco/keypoints.js';
import { measureCoco } from '../../../../src/detection/coco/measure.js';
import { KEYPOINT_PARAMS } from '../../../../src/detection/coco/params.js';
import { describeTruth, overlap } from '../../../../src/detection/coco/region.js';
import { parseCocoResults } from '../../../../src/detection/coco/results.js';
import { failureOf } from '../../../support/error-code.js';
import { fixturePath } from '../../../support/fixtures.js';

interface Recorded {
  readonly groundTruth: Json;
  readonly results: Json;
  readonly figures: Readonly<Record<string, number>>;
}

/** Drawn persons with crowds, objects without labeled points, more than 20 detections of one image, and detections of the other category. */
const recorded = JSON.parse(readFileSync(fixturePath('detection', 'keypoints', 'persons.json'), 'utf8')) as Recorded;

describe('keypoint figures', () => {
  it('equal the recorded ones', () => {
    const dataset = parseCocoDataset(recorded.groundTruth);
    const evaluation = measureCoco(dataset, parseCocoResults(recorded.results, dataset), 'keypoints', KEYPOINT_PARAMS);
    const figures = summarizeKeypoints(evaluation, evaluation.categories);
    // numpy's exponential may differ in the last bit, and the mean of 101 precisions in the order of additions.
    for (const name of KEYPOINT_FIGURE_NAMES) expect(Math.abs(figures[name] - (recorded.figures[name] ?? Number.NaN))).toBeLessThan(1e-12);
    expect(figures.AP).toBeGreaterThan(0.1);
    expect(figures.APlarge).toBeGreaterThan(0);
  });

  it('are those of pycocotools in order', () => {
    expect(KEYPOINT_FIGURE_NAMES).toEqual(['AP', 'AP50', 'AP75', 'APmedium', 'APlarge', 'AR', 'AR50', 'AR75', 'ARmedium', 'ARlarge']);
  });
});

describe('object keypoint similarity', () => {
  const truth = { points: [10, 10, 2, 20, 10, 0], box: [10, 10, 10, 10], area: 100, sigmas: [0.5, 0.1] } as const;

  it('is the mean of e^(−d² / (2 · area · (2σ)²)) over labeled points', () => {
    // The second point is not labeled. d = 5, and (2 · .5)² · 100 · 2 = 200.
    expect(computeOks([13, 14, 1, 0, 0, 1], truth)).toBeCloseTo(Math.exp(-25 / 200), 12);
    expect(computeOks([10, 10, 1, 99, 99, 1], truth)).toBe(1);
  });

  it('uses the distance to a box of three times the size where no point is labeled', () => {
    const unlabeled = { ...truth, points: [0, 0, 0, 0, 0, 0] };
    // The box reaches from 0 to 30: the first point lies in it, the second 4 to its right.
    expect(computeOks([5, 25, 1, 34, 10, 1], unlabeled)).toBeCloseTo((1 + Math.exp(-16 / (0.04 * 100 * 2))) / 2, 12);
  });

  it('refuses another number of points', async () => {
    expect(await failureOf(async () => computeOks([1, 1, 1], truth))).toMatchObject({ code: 'coco-keypoints' });
  });
});

it.each([[[1, 2]], ['x'], [[1, 2, 'v']]])('keypoints %j are an error at their place', keypoints => {
  const root = { images: [{ id: 1, width: 9, height: 9 }], categories: [{ id: 1, name: 'p' }] };
  const annotation = { id: 1, image_id: 1, category_id: 1, area: 1, iscrowd: 0, keypoints };
  const [parsed] = parseCocoDataset({ ...root, annotations: [annotation] }).annotations;
  expect(parsed?.keypoints?.invalid?.problem).toMatchObject({
    code: 'coco-field',
    message: expect.stringContaining('annotations[0].keypoints'),
  });
});

it('a crowd without an area has that of its box', () => {
  const root = { images: [{ id: 1, width: 9, height: 9 }], categories: [{ id: 1, name: 'p' }] };
  const crowd = { id: 1, image_id: 1, category_id: 1, iscrowd: 1, bbox: [0, 0, 5, 20], keypoints: [10, 10, 2], num_keypoints: 1 };
  const [annotation] = parseCocoDataset({ ...root, annotations: [crowd] }).annotations;
  if (annotation === undefined) throw new Error('no annotation');
  const truth = describeTruth(annotation, { id: 1, width: 9, height: 9 }, 'keypoints', [0.5]);
  const found = { kind: 'keypoints', box: [0, 0, 1, 1], area: 1, points: [13, 14, 1], sigmas: [] } as const;
  // d = 5, and (2 · .5)² · 100 · 2 = 200.
  expect(overlap(found, truth.region, 'crowd')).toBeCloseTo(Math.exp(-25 / 200), 12);
  expect(truth.area).toBeNaN();
});
