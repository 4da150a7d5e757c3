/** Which scale and zero point map a range of real numbers to integers? */

import { QuantError } from './quant-error.js';
import { type IntegerScheme, mappedRange, type QuantizedDType } from './quantized-dtype.js';
import { roundHalfEven } from './rounding.js';

/** Real values that a tensor takes; float32 numbers, low ≤ high. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** real = (integer − zeroPoint) · scale. `scale` is a positive float32. */
export interface QParams {
  readonly scale: number;
  readonly zeroPoint: number;
}

/** The parameters of a tensor: one, or one per slice of `axis`. */
export interface TensorQParams {
  readonly dtype: QuantizedDType;
  readonly axis: number | undefined;
  readonly slices: readonly QParams[];
}

/** Smallest normal float32: smaller scales would be flushed to zero by some processors. */
const TINY = 2 ** -126;

/**
 * Maps `range`, widened to contain zero, to the integers of `scheme`.
 *
 * The width of the range is a float32 difference, scale and zero point are computed in double from it, the zero point is rounded half to even,
 * and the scale is rounded to float32 last: step by step what onnxruntime.quantization 1.30 computes (compute_scale_zp), so that
 * both give the same bits. A scale below the smallest normal float32 (a range of nothing but zero) becomes scale 1, zero point 0.
 *
 * @throws QuantError `bad-range` where an end is not finite or the ends are reversed.
 */
export function computeQParams(range: Range, scheme: IntegerScheme): QParams {
  if (!Number.isFinite(range.low) || !Number.isFinite(range.high) || range.low > range.high) {
    throw new QuantError('bad-range', `[${range.low}, ${range.high}] is no range of finite numbers`);
  }
  const { low, high } = widen(range, scheme.symmetric);
  const integers = mappedRange(scheme);
  const scale = Math.fround(high - low) / (integers.high - integers.low);
  if (scale < TINY) return { scale: 1, zeroPoint: 0 };
  const zeroPoint = scheme.symmetric ? roundHalfEven((integers.low + integers.high) / 2) : roundHalfEven(integers.low - low / scale);
  return { scale: Math.fround(scale), zeroPoint: zeroPoint + 0 };
}

function widen(range: Range, symmetric: boolean): Range {
  const low = Math.min(range.low, 0);
  const high = Math.max(range.high, 0);
  if (!symmetric) return { low, high };
  const limit = Math.max(-low, high);
  return { low: -limit, high: limit };
}
