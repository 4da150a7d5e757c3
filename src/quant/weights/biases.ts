/** Quantizes biases: at the scale of the products that they are added to, or at their own power-of-two scale. */

import { getDefined } from '../../base/invariant.js';
import { roundHalfEven } from '../../base/round-half-even.js';
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor, type RawTensor } from '../../tensor/tensor.js';
import { MIN_SCALE, POSITIONS, positionNotBelow, scaleAt } from '../integers/power-of-two.js';
import type { QParams, TensorQParams } from '../integers/qparams.js';
import { saturate } from '../integers/rounding.js';
import type { BiasDType } from '../scheme/scheme.js';
import { decodeFloats, toDb } from './weights.js';

export type BiasIntegers = Exclude<BiasDType, 'float32'>;

const LIMITS = {
  int8: { low: -128, high: 127 },
  int16: { low: -32768, high: 32767 },
  int32: { low: -(2 ** 31), high: 2 ** 31 - 1 },
} as const;

const ARRAYS = { int8: Int8Array, int16: Int16Array, int32: Int32Array } as const;

export interface QuantizedBias {
  readonly dtype: BiasIntegers;
  readonly integers: RawTensor;
  readonly scales: readonly number[];
  /** Number of elements that the type could not hold. */
  readonly saturated: number;
  /** Sum of squared errors. */
  readonly noise: number;
  readonly sqnrDb: number;
}

/**
 * Quantizes a bias with zero point 0 and scale float32(input scale · weight scale), so that it is added to the products without rescaling.
 * The quotient is taken in double and rounded half to even.
 * With one weight scale the bias may have any shape; with several, it has rank 1 and one element per scale.
 */
export function quantizeBias(bias: RawTensor, inputScale: number, weightScales: readonly number[], dtype: BiasIntegers): QuantizedBias {
  return toIntegers(
    bias,
    weightScales.map(scale => Math.fround(inputScale * scale)),
    dtype,
  );
}

/** Number of powers of two that are tried, from the smallest one at which nothing saturates by more than half a step. */
const CANDIDATES = 5;

/** Quantizes a bias with zero point 0 and the power-of-two scale with the smallest squared error. Ties go to the largest scale. */
export function quantizeBiasAtOwnScale(bias: RawTensor, dtype: BiasIntegers): QuantizedBias {
  const data = decodeFloats(bias);
  const limits = LIMITS[dtype];
  const needed = data.reduce((most, x) => Math.max(most, x / (limits.low - 0.5), x / (limits.high + 0.5)), 0);
  if (needed < MIN_SCALE) return toIntegers(bias, [1], dtype);
  const first = positionNotBelow(needed);
  const positions = Array.from({ length: CANDIDATES }, (_, i) => first + i).filter(position => position <= POSITIONS.high);
  const tried = positions.map(position => toIntegers(bias, [scaleAt(position)], dtype));
  return tried.reduce((best, one) => (one.sqnrDb > best.sqnrDb ? one : best));
}

/** Quantizes a bias with zero point 0 and this scale. */
export function quantizeBiasAt(bias: RawTensor, scale: number, dtype: BiasIntegers): QuantizedBias {
  return toIntegers(bias, [scale], dtype);
}

function toIntegers(bias: RawTensor, scales: readonly number[], dtype: BiasIntegers): QuantizedBias {
  const data = decodeFloats(bias);
  const { low, high } = LIMITS[dtype];
  const integers = new ARRAYS[dtype](data.length);
  let saturated = 0;
  let signal = 0;
  let noise = 0;
  for (let i = 0; i < data.length; i++) {
    const x = data[i] as number;
    const scale = getDefined(scales[scales.length === 1 ? 0 : i], 'bias scale');
    const quotient = x / scale;
    const integer = saturate(quotient, low, high);
    if (integer !== roundHalfEven(quotient)) saturated++;
    integers[i] = integer;
    signal += x * x;
    const error = x - integer * scale;
    noise += error * error;
  }
  return {
    dtype,
    integers: encodeRawTensor(makeTensor(dtype, bias.dims, integers as never)),
    scales,
    saturated,
    noise,
    sqnrDb: toDb(signal, noise),
  };
}

/** Slightly more than the required scale, so that rounding does not push the largest bias out of range. */
const MARGIN = 1.0001;

/**
 * Increases weight scales just enough that `bias` fits into int32 at input scale · weight scale. Most scales are large enough already.
 * Only channels with tiny weights and a large bias change; their weights hardly matter beside the bias.
 * @param form 'power-of-two': scales stay powers of two.
 */
export function widenForBias(weight: TensorQParams, bias: RawTensor, inputScale: number, form: 'float' | 'power-of-two'): TensorQParams {
  if (weight.slices.some(slice => slice.zeroPoint !== 0)) return weight;
  const data = decodeFloats(bias);
  const perTensor = weight.slices.length === 1;
  if (!perTensor && data.length !== weight.slices.length) return weight;
  const most = perTensor ? largest(data) : 0;
  const slices = weight.slices.map((slice, i) => widenSlice(slice, perTensor ? most : Math.abs(data[i] ?? 0), inputScale, form));
  return { ...weight, slices };
}

function widenSlice(slice: QParams, largestBias: number, inputScale: number, form: 'float' | 'power-of-two'): QParams {
  const least = (MARGIN * 2 * largestBias) / (LIMITS.int32.high - (LIMITS.int32.low + 1));
  const scale = inputScale * slice.scale;
  if (scale >= least || scale <= 0) return slice;
  const needed = slice.scale * (least / scale);
  return { ...slice, scale: form === 'float' ? Math.fround(needed) : scaleAt(positionNotBelow(needed)) };
}

function largest(data: Float32Array): number {
  let most = 0;
  for (const x of data) {
    if (x > most) most = x;
    else if (-x > most) most = -x;
  }
  return most;
}
