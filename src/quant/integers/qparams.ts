/** Scale and zero point that map a range of real numbers to integers. */

import { roundHalfEven } from '../../base/round-half-even.js';
import { MIN_SCALE } from './power-of-two.js';
import { QuantError } from './quant-error.js';
import { type IntegerRange, type IntegerScheme, mappedRange, type QuantizedDType, storageRange } from './quantized-dtype.js';
import { saturate } from './rounding.js';

/** The real values of a tensor: float32 numbers, low ≤ high. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** real = (integer − zeroPoint) · scale. `scale` is a positive float32. */
export interface QParams {
  readonly scale: number;
  readonly zeroPoint: number;
}

/** The parameters of a tensor: one entry, or one per slice along `axis`. */
export interface TensorQParams {
  readonly dtype: QuantizedDType;
  readonly axis: number | undefined;
  readonly slices: readonly QParams[];
}

/**
 * Maps `range`, widened to contain zero, to the integers of `scheme`.
 *
 * The width of the range is a float32 difference. Scale and zero point are computed from it in double, the zero point is rounded half to even,
 * and the scale is rounded to float32 last. These are the steps of onnxruntime.quantization 1.30 (compute_scale_zp), so both give the same bits.
 * A scale below the smallest normal float32 (a range that contains only zero) becomes scale 1, zero point 0.
 *
 * @throws QuantError `bad-range` if an end is not finite, or low is above high.
 */
export function computeQParams(range: Range, scheme: IntegerScheme): QParams {
  if (!Number.isFinite(range.low) || !Number.isFinite(range.high) || range.low > range.high) {
    throw new QuantError('bad-range', `[${range.low}, ${range.high}] is not a range of finite numbers with low ≤ high`);
  }
  const { low, high } = widen(range, scheme.symmetric);
  const integers = mappedRange(scheme);
  const scale = Math.fround(high - low) / (integers.high - integers.low);
  if (scale < MIN_SCALE) return { scale: 1, zeroPoint: 0 };
  const zeroPoint = scheme.symmetric ? middleOf(scheme) : zeroPointOf(low, scale, integers);
  return { scale: Math.fround(scale), zeroPoint };
}

/** The integer for zero in a symmetric scheme: 0, or the middle of an unsigned type (128, 32768). */
export function middleOf(scheme: IntegerScheme): number {
  const { low, high } = mappedRange(scheme);
  return roundHalfEven((low + high) / 2) + 0;
}

/** The integer for zero if `low` maps to the smallest integer. */
export function zeroPointOf(low: number, scale: number, integers: IntegerRange): number {
  return saturate(integers.low - low / scale, integers.low, integers.high) + 0;
}

/** The real range that the integers of `dtype` represent. */
export function coveredRange({ scale, zeroPoint }: QParams, dtype: QuantizedDType): Range {
  const { low, high } = storageRange(dtype);
  return { low: (low - zeroPoint) * scale + 0, high: (high - zeroPoint) * scale };
}

function widen(range: Range, symmetric: boolean): Range {
  const low = Math.min(range.low, 0);
  const high = Math.max(range.high, 0);
  if (!symmetric) return { low, high };
  const limit = Math.max(-low, high);
  return { low: -limit, high: limit };
}
