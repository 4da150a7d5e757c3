/** Comparison of two lists of detections by class and IoU. */
import { compareDetections, detectionFiguresOf, mergeDetectionComparisons } from '../../../../src/detection/compare/compare-detections.js';
import type { DetectedObjects } from '../../../../src/detection/detector/detector.js';

const RULE = { matchIou: 0.5, minScore: 0 };

interface Given {
  readonly label: number;
  readonly score: number;
  readonly box: readonly [number, number, number, number];
  /** Probability of every pixel of the mask. */
  readonly mask?: number;
}

function objects(...given: readonly Given[]): DetectedObjects {
  return {
    size: { height: 100, width: 100 },
    boxes: Float32Array.from(given.flatMap(one => one.box)),
    scores: Float32Array.from(given, one => one.score),
    labels: Int32Array.from(given, one => one.label),
    masks: {
      kind: 'squares',
      threshold: 0.5,
      side: 4,
      data: Float32Array.from(given.flatMap(one => new Array<number>(16).fill(one.mask ?? 1))),
    },
  };
}

const left: Given = { label: 1, score: 0.9, box: [0, 0, 20, 20] };
const right: Given = { label: 2, score: 0.8, box: [50, 50, 90, 90] };

describe('detections are compared by class and IoU', () => {
  it('their order does not matter', () => {
    const figures = detectionFiguresOf(compareDetections(1, objects(left, right), objects(right, left), RULE));
    expect(figures).toMatchObject({ matched: 2, missed: 0, extra: 0, maxScoreDifference: 0, minBoxIou: 1, minMaskIou: 1 });
  });

  it('a detection of only one side is missed or extra, and is described', () => {
    const moved: Given = { ...right, box: [0, 50, 30, 90], score: 0.7 };
    const comparison = compareDetections(7, objects(left, right), objects(left, moved), RULE);
    expect(comparison.missed).toEqual([{ image: 7, label: 2, score: Math.fround(0.8), box: [50, 50, 90, 90] }]);
    expect(comparison.extra).toEqual([{ image: 7, label: 2, score: Math.fround(0.7), box: [0, 50, 30, 90] }]);
    expect(detectionFiguresOf(comparison)).toMatchObject({ missedShare: 0.5, extraShare: 0.5, matched: 1 });
  });

  it('a pair differs by the larger of the differences of box score and mask score', () => {
    const scored = (score: number): DetectedObjects => ({ ...objects(left), maskScores: Float32Array.of(score) });
    const difference = (a: DetectedObjects, b: DetectedObjects) => detectionFiguresOf(compareDetections(1, a, b, RULE)).maxScoreDifference;
    expect(difference(scored(0.75), scored(0.5))).toBe(0.25);
    expect(difference(scored(0.75), { ...scored(0.7), scores: Float32Array.of(0.5) })).toBeCloseTo(0.4, 6);
  });

  it('detections of different classes are not paired', () => {
    expect(detectionFiguresOf(compareDetections(1, objects(left), objects({ ...left, label: 3 }), RULE))).toMatchObject({
      matched: 0,
      missed: 1,
      extra: 1,
    });
  });

  it('each object is paired once, with the highest IoU', () => {
    const near: Given = { ...left, box: [1, 0, 21, 20], score: 0.5 };
    const comparison = compareDetections(1, objects(left), objects(near, left), RULE);
    expect(comparison.partners).toEqual([{ scoreDifference: 0, boxIou: 1, maskIou: 1 }]);
    expect(comparison.extra).toHaveLength(1);
  });

  it('detections below the minimum score are neither missed nor extra; a pair counts if one of the two is above', () => {
    const weak: Given = { ...right, score: 0.2 };
    const rule = { ...RULE, minScore: 0.3 };
    expect(detectionFiguresOf(compareDetections(1, objects(left, weak), objects(left), rule))).toMatchObject({
      reference: 1,
      matched: 1,
      missed: 0,
    });
    expect(detectionFiguresOf(compareDetections(1, objects(weak), objects(weak), rule))).toMatchObject({ reference: 0, matched: 0 });
    expect(detectionFiguresOf(compareDetections(1, objects(left, right), objects(left, weak), rule))).toMatchObject({
      matched: 2,
      missed: 0,
      extra: 0,
    });
  });

  it('masks are compared apart from boxes; two empty masks are equal', () => {
    const empty: Given = { ...left, mask: 0 };
    expect(detectionFiguresOf(compareDetections(1, objects(left), objects(empty), RULE))).toMatchObject({ minBoxIou: 1, minMaskIou: 0 });
    expect(detectionFiguresOf(compareDetections(1, objects(empty), objects(empty), RULE))).toMatchObject({ minMaskIou: 1 });
  });

  it('figures of images are added, and two empty lists are equal', () => {
    const none = compareDetections(1, objects(), objects(), RULE);
    const one = compareDetections(2, objects(left), objects(), RULE);
    expect(detectionFiguresOf(none)).toMatchObject({ missedShare: 0, extraShare: 0, minBoxIou: 1, maxScoreDifference: 0 });
    expect(detectionFiguresOf(mergeDetectionComparisons([none, one, one]))).toMatchObject({ reference: 2, missed: 2, missedShare: 1 });
  });
});
