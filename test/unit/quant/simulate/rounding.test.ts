/** Rounding modes and the fixed-point arithmetic of TensorFlow Lite, on numbers worked by hand. */

import {
  dividePowerOfTwo,
  doublingHighProduct,
  multiply,
  quantizeMultiplier,
} from '../../../../src/quant/simulate/plain/tflite-multiplier.js';
import { roundExact } from '../../../../src/quant/simulate/steps/rounding-mode.js';

describe('roundExact', () => {
  it.each([
    ['pow2-dpu', [-1, -1, 0, 0, 1, 2, 3]],
    ['pow2-py3', [-2, -1, 0, 0, 0, 2, 2]],
    ['pow2-std', [-2, -1, -1, 0, 1, 2, 3]],
  ] as const)('%s rounds −1.5, −0.75, −0.5, 0, 0.5, 1.5 and 2.5', (mode, expected) => {
    expect([-1.5, -0.75, -0.5, 0, 0.5, 1.5, 2.5].map(x => roundExact(x, mode) + 0)).toEqual(expected);
  });
});

describe('the multipliers of TensorFlow Lite', () => {
  it('hold a factor as 31 bits and a shift', () => {
    expect(quantizeMultiplier(0.5)).toEqual({ mantissa: 2 ** 30, shift: 0 });
    expect(quantizeMultiplier(1)).toEqual({ mantissa: 2 ** 30, shift: 1 });
    expect(quantizeMultiplier(0.75 / 1024)).toEqual({ mantissa: 0.75 * 2 ** 31, shift: -10 });
    // The mantissa rounds up to 2^31, and becomes 2^30 with one more shift.
    expect(quantizeMultiplier(1 - 2 ** -40)).toEqual({ mantissa: 2 ** 30, shift: 1 });
    expect(quantizeMultiplier(2 ** -40)).toEqual({ mantissa: 0, shift: 0 });
  });

  /** (ab ± …) / 2^31 in exact integers, cut off toward zero as C divides. */
  const exactly = (a: number, b: number): number => {
    const product = BigInt(a) * BigInt(b);
    return Number((product + (product >= 0n ? 1n << 30n : 1n - (1n << 30n))) / (1n << 31n));
  };

  it.each([
    [2 ** 30, 3],
    [2 ** 30, -3],
    [2 ** 30, 1],
    [2 ** 30, -1],
    [-(2 ** 31), 2 ** 31 - 1],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [-(2 ** 31), 5],
    [123_456_789, -987_654_321],
    [0, -7],
    [1_500_000_000, 1_431_655_765],
  ])('multiply %i and %i as integers do', (a, b) => {
    expect(doublingHighProduct(a, b)).toBe(exactly(a, b) + 0);
  });

  it('saturate the one product that has no half', () => {
    expect(doublingHighProduct(-(2 ** 31), -(2 ** 31))).toBe(2 ** 31 - 1);
  });

  it('divide by powers of two with halves away from zero', () => {
    expect([5, 6, 7, -5, -6, -7, -2].map(x => dividePowerOfTwo(x, 2))).toEqual([1, 2, 2, -1, -2, -2, -1]);
  });

  it('round twice: 3 · 0.375 is 1.125, 4 · 0.375 is 1.5, −4 · 0.375 is −1.5', () => {
    const factor = quantizeMultiplier(0.375);
    expect([3, 4, -4, 100].map(x => multiply(x, factor))).toEqual([1, 2, -2, 38]);
  });
});
