/** The fixed-point arithmetic of TensorFlow Lite's reference kernels: multipliers of 31 bits and two roundings. */

/** A positive factor as mantissa · 2^(shift − 31). */
export interface Multiplier {
  readonly mantissa: number;
  readonly shift: number;
}

const TWO_31 = 2 ** 31;

/** Halves away from zero, as TensorFlow Lite rounds. */
export function roundAway(x: number): number {
  return x < 0 ? -Math.floor(0.5 - x) : Math.floor(x + 0.5);
}

/** @see TensorFlow Lite, kernels/internal/quantization_util.cc: QuantizeMultiplier. */
export function quantizeMultiplier(factor: number): Multiplier {
  if (!(factor > 0)) return { mantissa: 0, shift: 0 };
  let shift = Math.floor(Math.log2(factor)) + 1;
  // log2 of a number just below a power of two can round up.
  while (factor / 2 ** shift >= 1) shift++;
  while (factor / 2 ** shift < 0.5) shift--;
  const mantissa = roundAway((factor / 2 ** shift) * TWO_31);
  if (mantissa === TWO_31) return { mantissa: TWO_31 / 2, shift: shift + 1 };
  return shift < -31 ? { mantissa: 0, shift: 0 } : { mantissa, shift };
}

/**
 * The high half of 2ab, rounded: (ab + 2³⁰) / 2³¹ for ab ≥ 0, otherwise (ab + 1 − 2³⁰) / 2³¹, cut off toward zero.
 * @param a int32, @param b int32. @see gemmlowp, fixedpoint.h: SaturatingRoundingDoublingHighMul.
 */
export function doublingHighProduct(a: number, b: number): number {
  if (a === -TWO_31 && b === -TWO_31) return TWO_31 - 1;
  // a · b = quotient · 2³¹ + rest, in doubles without loss.
  const upper = Math.floor(a / 2 ** 16);
  const product = upper * b;
  const quotient = Math.floor(product / 2 ** 15);
  const isNegative = a * b < 0;
  const rest = (product - quotient * 2 ** 15) * 2 ** 16 + (a - upper * 2 ** 16) * b + (isNegative ? 1 - 2 ** 30 : 2 ** 30);
  const floor = quotient + Math.floor(rest / TWO_31);
  return floor < 0 && rest - Math.floor(rest / TWO_31) * TWO_31 !== 0 ? floor + 1 : floor + 0;
}

/** x / 2^exponent, halves away from zero. @see gemmlowp, fixedpoint.h: RoundingDivideByPOT. */
export function dividePowerOfTwo(x: number, exponent: number): number {
  return roundAway(x / 2 ** exponent) + 0;
}

/** @see TensorFlow Lite, kernels/internal/common.cc: MultiplyByQuantizedMultiplier. The shifted `x` wraps at 32 bits. */
export function multiply(x: number, { mantissa, shift }: Multiplier): number {
  return dividePowerOfTwo(doublingHighProduct((x * 2 ** Math.max(shift, 0)) | 0, mantissa), Math.max(-shift, 0));
}
