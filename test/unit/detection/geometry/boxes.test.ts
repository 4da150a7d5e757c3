/** Boxes, anchors, suppression and pooling on cases that can be computed by hand. */
import fc from 'fast-check';
import { matchDetections } from '../../../../src/detection/compare/match-detections.js';
import { sigmoid, softmaxRows } from '../../../../src/detection/detector/activations.js';
import { makeAnchors, makeAnchorsAt, makeBaseAnchors } from '../../../../src/detection/geometry/anchors.js';
import { decodeBoxes, encodeBoxes } from '../../../../src/detection/geometry/box-coder.js';
import { type Coverage, coverPlainly } from '../../../../src/detection/geometry/box-coverage.js';
import { boxAreas, boxIouMatrix, clipBoxes, findLargeBoxes, gatherBoxes } from '../../../../src/detection/geometry/boxes.js';
import { batchedNonMaximumSuppression, nonMaximumSuppression } from '../../../../src/detection/geometry/nms.js';
import { openCoverage } from '../../../../src/detection/geometry/nms-kernel.js';
import { roiAlignInto } from '../../../../src/detection/geometry/roi-align.js';
import { assignLevels } from '../../../../src/detection/geometry/roi-pyramid.js';
import { topK } from '../../../../src/detection/geometry/top-k.js';
import { maxDifference } from '../../../support/max-difference.js';

const boxes = (...sides: number[]) => Float32Array.from(sides);

describe('boxes', () => {
  it('IoU is the shared area over the joint area, and 0 where boxes only touch', () => {
    const matrix = boxIouMatrix(boxes(0, 0, 2, 2), boxes(1, 0, 3, 2, 2, 0, 4, 2, 0, 0, 2, 2, 5, 5, 5, 5));
    expect([...matrix]).toEqual([Math.fround(1 / 3), 0, 1, 0]);
    expect([...boxAreas(boxes(1, 2, 4, 8))]).toEqual([18]);
  });

  it('clipping keeps boxes inside, and small ones are left out', () => {
    const clipped = clipBoxes(boxes(-5, 3, 300, 90, 10, 10, 10.5, 60), { height: 50, width: 100 });
    expect([...clipped]).toEqual([0, 3, 100, 50, 10, 10, 10.5, 50]);
    expect(findLargeBoxes(clipped, 1)).toEqual([0]);
  });

  it('deltas: zero keeps the box, growth stops at 1000/16', () => {
    const reference = boxes(10, 20, 30, 60);
    expect([...decodeBoxes(boxes(0, 0, 0, 0), reference, [10, 10, 5, 5])]).toEqual([10, 20, 30, 60]);
    const [x1 = 0, , x2 = 0] = decodeBoxes(boxes(0, 0, 1e9, 0), reference, [1, 1, 1, 1]);
    expect((x2 - x1) / 20).toBeCloseTo(62.5, 3);
  });

  it('decoding what was encoded gives the boxes back', () => {
    const side = fc.integer({ min: 1, max: 60 });
    fc.assert(
      fc.property(fc.array(side, { minLength: 8, maxLength: 8 }), ([a = 0, b = 0, c = 1, d = 1, e = 0, f = 0, g = 1, h = 1]) => {
        const [reference, box] = [boxes(a, b, a + c, b + d), boxes(e, f, e + g, f + h)];
        const back = decodeBoxes(encodeBoxes(box, reference, [10, 10, 5, 5]), reference, [10, 10, 5, 5]);
        // Float32: 24 bits over coordinates up to 120, an exp and a log.
        return maxDifference(back, box) < 1e-3;
      }),
    );
  });
});

describe('anchors', () => {
  it('base anchors are rounded to even and ordered by aspect ratio', () => {
    expect([...makeBaseAnchors([8], [0.5, 1, 2])]).toEqual([-6, -3, 6, 3, -4, -4, 4, 4, -3, -6, 3, 6]);
    expect([...makeBaseAnchors([5], [1])]).toEqual([-2, -2, 2, 2]);
  });

  it('the stride is the whole part of input over map', () => {
    const anchors = makeAnchors([{ sizes: [8], aspectRatios: [1], height: 2, width: 3 }], { height: 97, width: 192 });
    expect([...anchors.subarray(-4)]).toEqual([128 - 4, 48 - 4, 128 + 4, 48 + 4]);
    expect(anchors.length).toBe(2 * 3 * 4);
  });

  it('chosen anchors are those of the whole list', () => {
    const level = { sizes: [8, 20], aspectRatios: [0.5, 1, 2], height: 3, width: 5 };
    const input = { height: 100, width: 160 };
    const chosen = [89, 0, 7, 31, 30, 7];
    expect(makeAnchorsAt(chosen, level, input)).toEqual(gatherBoxes(makeAnchors([level], input), chosen));
  });
});

describe('suppression', () => {
  const overlapping = boxes(0, 0, 10, 10, 1, 0, 11, 10, 20, 20, 30, 30, 0, 0, 10, 10);

  it('a box goes where it overlaps a better one by more than the threshold', () => {
    expect(nonMaximumSuppression(overlapping, boxes(0.5, 0.9, 0.1, 0.5), 0.5)).toEqual([1, 2]);
  });

  it('an overlap of exactly the threshold stays', () => {
    expect(nonMaximumSuppression(boxes(0, 0, 2, 1, 0, 0, 1, 1), boxes(1, 0.5), 0.5)).toEqual([0, 1]);
  });

  it('groups do not suppress each other, and the result is ordered by score', () => {
    expect(batchedNonMaximumSuppression(overlapping, boxes(0.5, 0.9, 0.95, 0.5), [1, 2, 1, 1], 0.5)).toEqual([2, 1, 0]);
  });

  it('the kept boxes are those of the full overlap matrix, and a limit keeps the best of them', () => {
    const side = fc.integer({ min: 0, max: 12 });
    const box = fc.tuple(side, side, side, side).map(([x, y, width, height]) => [x, y, x + width, y + height]);
    const scored = fc.array(fc.tuple(box, fc.integer({ min: 0, max: 6 })), { maxLength: 30 });
    fc.assert(
      fc.property(scored, fc.constantFrom(0, 0.3, 0.5, 0.7), fc.integer({ min: 0, max: 5 }), (given, threshold, limit) => {
        const all = Float32Array.from(given.flatMap(([sides]) => sides));
        const scores = Float32Array.from(given, ([, score]) => score);
        const ious = boxIouMatrix(all, all);
        const order = given.map((_, index) => index).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
        const stays: number[] = [];
        for (const index of order)
          if (!stays.some(better => (ious[better * given.length + index] ?? 0) > Math.fround(threshold))) stays.push(index);
        expect(nonMaximumSuppression(all, scores, Math.fround(threshold))).toEqual(stays);
        expect(nonMaximumSuppression(all, scores, Math.fround(threshold), limit)).toEqual(stays.slice(0, limit));
        const groups = given.map((_, index) => index % 3);
        const joined = batchedNonMaximumSuppression(all, scores, groups, threshold);
        expect(batchedNonMaximumSuppression(all, scores, groups, threshold, limit)).toEqual(joined.slice(0, limit));
      }),
    );
  });

  it.each([0, 0.3, 0.5, 0.7, 0.95])('the kernel suppresses the same boxes as the plain code, at IoU above %p', threshold => {
    let state = 1;
    const random = (): number => {
      state = (state * 48271) % 2147483647;
      return state / 2147483647;
    };
    for (const count of [16, 17, 30, 131]) {
      const all = Float32Array.from(
        Array.from({ length: count }, () => [random() * 40, random() * 40, 20 + random() * 40, 20 + random() * 40]).flat(),
      );
      const [plain, kernel] = [coverPlainly, openCoverage].map(open => open(all, boxAreas(all), threshold)) as [Coverage, Coverage];
      const covered = (coverage: Coverage): boolean[] =>
        Array.from({ length: count }, (_, box) => {
          const isCovered = coverage.isCovered(box);
          if (!isCovered) coverage.coverBy(box);
          return isCovered;
        });
      expect(covered(kernel)).toEqual(covered(plain));
    }
  });

  it('an IoU of the threshold itself stays, in the kernel too', () => {
    const nested = boxes(...Array.from({ length: 20 }, () => [0, 0, 2, 1]).flat(), 0, 0, 1, 1);
    const [plain, kernel] = [coverPlainly, openCoverage].map(open => open(nested, boxAreas(nested), 0.5)) as [Coverage, Coverage];
    for (const coverage of [plain, kernel]) {
      coverage.coverBy(0);
      expect([coverage.isCovered(19), coverage.isCovered(20)]).toEqual([true, false]);
    }
  });

  it('the order of scores is that of numbers: signs, zeros, infinities, NaN last', () => {
    const special = fc.constantFrom(
      0,
      -0,
      1e-45,
      -1e-45,
      3.4e38,
      -3.4e38,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NaN,
      1,
      -1,
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(special, fc.float()), { maxLength: 60 }), fc.integer({ min: 0, max: 61 }), (values, k) => {
        const scores = Float32Array.from(values);
        const key = (index: number): number => (Number.isNaN(scores[index]) ? Number.NEGATIVE_INFINITY : (scores[index] ?? 0));
        const order = values.map((_, index) => index).sort((a, b) => (key(a) === key(b) ? a - b : key(b) - key(a)));
        expect([...topK(scores, k)]).toEqual(order.slice(0, k));
      }),
    );
  });

  it('top k prefers the first of equal scores, and any number over NaN', () => {
    expect([...topK(boxes(1, Number.NaN, 3, 1, 1), 3)]).toEqual([2, 0, 3]);
    expect([...topK(boxes(1, Number.NaN), 5)]).toEqual([0, 1]);
    expect([...topK(boxes(1), 0)]).toEqual([]);
  });

  it('top k is the start of the sorted list', () => {
    const scores = fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 40 });
    fc.assert(
      fc.property(scores, fc.nat(40), (values, k) => {
        const sorted = values.map((value, i) => [value, i] as const).sort(([a, i], [b, j]) => b - a || i - j);
        expect([...topK(Float32Array.from(values), k)]).toEqual(sorted.slice(0, k).map(([, i]) => i));
      }),
    );
  });
});

describe('probabilities', () => {
  it('softmax rows add up to 1 and survive large logits', () => {
    expect([...softmaxRows(boxes(1000, 1000, 0, Math.log(3)), 2)].map(value => Number(value.toFixed(6)))).toEqual([0.5, 0.5, 0.25, 0.75]);
  });

  it('sigmoid is one half at zero and ends at 0 and 1', () => {
    expect([...sigmoid(boxes(0, -200, 200))]).toEqual([0.5, 0, 1]);
  });
});

describe('RoIAlign', () => {
  const ramp = { data: Float32Array.from({ length: 64 }, (_, i) => i % 8), channels: 1, height: 8, width: 8, scale: 0.5 };

  it('on a ramp gives the coordinate at the middle of each bin', () => {
    const pooled = new Float32Array(4);
    roiAlignInto(pooled, ramp, boxes(4, 4, 12, 12), [0], { size: 2, samplingRatio: 2 });
    expect([...pooled]).toEqual([3, 5, 3, 5]);
  });

  it('points outside the map count as zero; a region is at least one cell', () => {
    const pooled = new Float32Array(2);
    roiAlignInto(pooled, ramp, boxes(100, 100, 120, 120, 6, 6, 6, 6), [0, 1], { size: 1, samplingRatio: 2 });
    expect([...pooled]).toEqual([0, 3.5]);
  });

  it('regions of the canonical size lie on the canonical level, and levels end at both sides', () => {
    const regions = boxes(0, 0, 224, 224, 0, 0, 223, 224, 0, 0, 4, 4, 0, 0, 4000, 4000, 5, 5, 5, 5);
    expect([...assignLevels(regions, { canonicalScale: 224, canonicalLevel: 4 }, 2, 4)]).toEqual([2, 1, 0, 3, 0]);
  });
});

describe('matching two detectors', () => {
  const reference = { boxes: boxes(0, 0, 10, 10, 0, 0, 10, 10, 50, 50, 60, 60), scores: boxes(0.5, 0.9, 0.8), labels: [1, 2, 1] };

  it('pairs have equal classes; unpaired objects are missed or extra', () => {
    const candidate = { boxes: boxes(50, 50, 60, 60, 1, 0, 11, 10, 0, 0, 10, 10), scores: boxes(0.9, 0.8, 0.1), labels: [3, 2, 1] };
    const { pairs, missed, extra } = matchDetections(reference, candidate, 0.5);
    expect(pairs.map(({ reference: a, candidate: b }) => [a, b])).toEqual([
      [1, 1],
      [0, 2],
    ]);
    expect([missed, extra]).toEqual([[2], [0]]);
  });

  it('a detection list matches itself in any order', () => {
    const turned = { boxes: boxes(50, 50, 60, 60, 0, 0, 10, 10, 0, 0, 10, 10), scores: boxes(0.8, 0.9, 0.5), labels: [1, 2, 1] };
    const { pairs, missed, extra } = matchDetections(reference, turned, 1);
    expect(pairs.every(({ iou }) => iou === 1)).toBe(true);
    expect([pairs.length, missed, extra]).toEqual([3, [], []]);
  });
});
