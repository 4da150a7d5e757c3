/** Tests of tensor comparison. */
import { EQUAL } from '../../../src/base/figure.js';
import { seededRandom } from '../../../src/stage/random.js';
import {
  compareAndDescribe,
  compareArrays,
  cosineOf,
  figuresOf,
  mergeComparisons,
  mergeMoments,
  momentsOf,
  NO_COMPARISON,
  NO_MOMENTS,
  sqnrDbOf,
  standardDeviationOf,
} from '../../../src/tensor/compare.js';

describe('comparisons', () => {
  it('an error of a tenth of the signal is 20 dB', () => {
    const figures = figuresOf(compareArrays([1, -1, 1, -1], [1.1, -1.1, 1.1, -1.1]));
    expect(figures.sqnrDb).toBeCloseTo(20, 10);
    expect(figures.maxAbs).toBeCloseTo(0.1, 12);
    expect(figures.cosine).toBeCloseTo(1, 12);
  });

  it('merged over samples is the same as over all at once', () => {
    const [reference, candidate] = [
      [1, 2, 3, 4, 5],
      [1.5, 2, 2.5, 4, 5.25],
    ];
    const parts = [0, 2, 5]
      .slice(0, 2)
      .map((start, index) => compareArrays(reference.slice(start, [2, 5][index]), candidate.slice(start, [2, 5][index])));
    expect(parts.reduce(mergeComparisons, NO_COMPARISON)).toEqual(compareArrays(reference, candidate));
  });

  it('equal tensors have infinite SQNR, which reports write as "equal"', () => {
    const equal = compareArrays([0, 1], [0, 1]);
    expect(sqnrDbOf(equal)).toBe(Number.POSITIVE_INFINITY);
    expect(figuresOf(equal)).toEqual({ maxAbs: 0, cosine: 1, sqnrDb: EQUAL, elements: 2, broken: 0 });
  });

  it('differences too small or too large to square in a double are finite, and not equal', () => {
    expect(figuresOf(compareArrays([1], [1 + 1e-300]))).toMatchObject({ sqnrDb: EQUAL });
    expect(figuresOf(compareArrays([1e-200], [2e-200]))).toMatchObject({ sqnrDb: 998 });
    expect(figuresOf(compareArrays([1e200], [2e200]))).toMatchObject({ sqnrDb: -998, cosine: 0 });
  });

  it('noise without a signal has the lowest SQNR', () => {
    const noise = compareArrays([0, 0], [0, 1]);
    expect(sqnrDbOf(noise)).toBe(Number.NEGATIVE_INFINITY);
    expect(cosineOf(noise)).toBe(0);
    expect(figuresOf(noise).sqnrDb).toBe(-998);
  });

  it.each([
    [Number.NaN, 1, 1],
    [1, Number.NaN, 1],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1],
    [Number.POSITIVE_INFINITY, 1, 1],
    [Number.NaN, Number.NaN, 0],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0],
  ])('%p against %p counts %p broken pairs', (x, y, broken) => {
    const comparison = compareArrays([x, 1], [y, 1]);
    expect(comparison.broken).toBe(broken);
    expect(sqnrDbOf(comparison)).toBe(broken === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
  });

  it('arrays of different lengths are not compared', () => {
    expect(() => compareArrays([1], [1, 2])).toThrow(RangeError);
  });
});

describe('moments', () => {
  it('merged over samples are those of all values', () => {
    const values = Array.from({ length: 101 }, (_, i) => Math.sin(i) + 1e6);
    const merged = [values.slice(0, 7), values.slice(7, 60), [], values.slice(60)].map(momentsOf).reduce(mergeMoments, NO_MOMENTS);
    const whole = momentsOf(values);
    expect(merged).toMatchObject({ count: 101, min: whole.min, max: whole.max });
    expect(merged.mean).toBeCloseTo(whole.mean, 8);
    expect(standardDeviationOf(merged)).toBeCloseTo(standardDeviationOf(whole), 10);
  });
});

/** Plain arrays are compared element by element, float32 arrays by the kernel. */
describe('comparisons of float32 arrays', () => {
  /** Several chunks of the kernel, and a rest of three elements. */
  const LENGTH = 3 * 16_384 + 5_003;

  function makePair(scale: number): { readonly reference: Float32Array; readonly candidate: Float32Array } {
    const random = seededRandom('compare', String(scale));
    const reference = Float32Array.from({ length: LENGTH }, (_, i) => (i % 7 === 0 ? -0 : (random() - 0.5) * scale));
    return { reference, candidate: reference.map(x => x + (random() - 0.5) * scale * 0.1) };
  }

  function expectEqualBits(reference: Float32Array, candidate: Float32Array): void {
    const plain = compareAndDescribe(Array.from(reference), Array.from(candidate));
    const { comparison, moments } = compareAndDescribe(reference, candidate);
    expect(comparison).toEqual(plain.comparison);
    expect(moments).toEqual(plain.moments);
    expect(compareArrays(reference, candidate)).toEqual(plain.comparison);
    expect(momentsOf(reference)).toEqual(plain.moments);
  }

  it.each([1e-44, 1e-20, 1, 3e38])('have the bits of plain sums at scale %p', scale => {
    const { reference, candidate } = makePair(scale);
    expectEqualBits(reference, candidate);
    expectEqualBits(reference.subarray(1), candidate.subarray(1));
  });

  it.each([0, 4095, 16_384, 40_000, LENGTH - 1])('have the bits of plain sums with elements that are not finite from %p on', at => {
    for (const [x, y] of [
      [Number.NaN, 1],
      [1, Number.NaN],
      [Number.NaN, Number.NaN],
      [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
      [Number.NEGATIVE_INFINITY, 2],
    ] as const) {
      const { reference, candidate } = makePair(1);
      reference[at] = x;
      candidate[at] = y;
      expectEqualBits(reference, candidate);
    }
  });

  it('find the largest error in every place of a group', () => {
    for (let at = 10_000; at < 10_004; at++) {
      const candidate = new Float32Array(LENGTH);
      candidate[at] = -3;
      expect(compareArrays(new Float32Array(LENGTH), candidate)).toMatchObject({ maxAbs: 3, errorSquares: 9, candidateSquares: 9 });
    }
  });
});
