/** How do weights and biases become integers? */
import { getDefined } from '../base/invariant.js';
import { decodeRawTensor, encodeRawTensor } from '../tensor/raw-tensor.js';
import type { Shape } from '../tensor/shape.js';
import { countElements } from '../tensor/shape.js';
import { makeTensor, type RawTensor } from '../tensor/tensor.js';
import { computeQParams, type QParams, type Range, type TensorQParams } from './qparams.js';
import { QuantError } from './quant-error.js';
import { dequantizeLinear, quantizeLinear } from './quantize-linear.js';
import type { IntegerScheme } from './quantized-dtype.js';
import { saturate } from './rounding.js';

const INT32 = { low: -(2 ** 31), high: 2 ** 31 - 1 } as const;

/** The float32 elements of a constant. */
export function decodeFloats(constant: RawTensor): Float32Array {
  return decodeRawTensor(constant as RawTensor & { readonly dtype: 'float32' }).data;
}

/**
 * Scale and zero point of a weight, from its least and greatest element, in total or per slice of `axis`.
 * @throws QuantError `bad-range` where an element is NaN or infinite; `name` is for the message.
 */
export function computeWeightQParams(weight: RawTensor, scheme: IntegerScheme, axis: number | undefined, name: string): TensorQParams {
  const ranges = sliceRanges(decodeFloats(weight), weight.dims, axis, name);
  return { dtype: scheme.dtype, axis, slices: ranges.map(range => computeQParams(range, scheme)) };
}

function sliceRanges(data: Float32Array, dims: Shape, axis: number | undefined, name: string): Range[] {
  const size = axis === undefined ? 1 : (dims[axis] ?? 0);
  const inner = axis === undefined ? data.length : countElements(dims.slice(axis + 1));
  const ranges = Array.from({ length: size }, () => ({ low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY }));
  for (let i = 0; i < data.length; i++) {
    const x = data[i] as number;
    if (x - x !== 0) throw new QuantError('bad-range', `weight "${name}": element ${i} is ${x}`);
    const range = getDefined(ranges[((i / inner) | 0) % size], 'slice');
    if (x < range.low) range.low = x;
    if (x > range.high) range.high = x;
  }
  return data.length === 0 ? ranges.map(() => ({ low: 0, high: 0 })) : ranges;
}

/** The integers of a weight, and how well they stand for it: 10·log10(Σx² / Σ(x − q)²) in dB, Infinity where nothing is lost. */
export function quantizeWeight(weight: RawTensor, qparams: TensorQParams): { readonly integers: RawTensor; readonly sqnrDb: number } {
  const data = decodeFloats(weight);
  const integers = quantizeLinear(data, weight.dims, qparams);
  const restored = dequantizeLinear(integers, weight.dims, qparams);
  let [signal, noise] = [0, 0];
  for (let i = 0; i < data.length; i++) {
    const [x, y] = [data[i] as number, restored[i] as number];
    signal += x * x;
    noise += (x - y) * (x - y);
  }
  const sqnrDb = noise === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10(signal / noise);
  return { integers: encodeRawTensor(makeTensor(qparams.dtype, weight.dims, integers as never)), sqnrDb };
}

export interface QuantizedBias {
  readonly integers: RawTensor;
  readonly scales: readonly number[];
  /** Elements that int32 could not hold. */
  readonly saturated: number;
}

/**
 * A bias as int32 with zero point 0: the scale is float32(input scale · weight scale), so that it adds to the products of both without rescaling;
 * the quotient is taken in double and rounded half to even.
 * One weight scale: any shape; several: one per element of a bias of rank 1.
 */
export function quantizeBias(bias: RawTensor, inputScale: number, weightScales: readonly number[]): QuantizedBias {
  const data = decodeFloats(bias);
  const scales = weightScales.map(scale => Math.fround(inputScale * scale));
  let saturated = 0;
  const integers = Int32Array.from(data, (x, i) => {
    const quotient = x / getDefined(scales[scales.length === 1 ? 0 : i], 'bias scale');
    if (quotient < INT32.low || quotient > INT32.high) saturated++;
    return saturate(quotient, INT32.low, INT32.high);
  });
  return { integers: encodeRawTensor(makeTensor('int32', bias.dims, integers)), scales, saturated };
}

/** A ten-thousandth more than the least scale, so that rounding does not push the largest bias over the edge. */
const MARGIN = 1.0001;

/**
 * Weight parameters with scales just large enough for `bias` to fit into int32 at input scale · weight scale. Most are large enough already:
 * only channels with tiny weights under a large bias need it, and lose resolution of weights that hardly matter beside the bias.
 */
export function widenForBias(weight: TensorQParams, bias: RawTensor, inputScale: number): TensorQParams {
  if (weight.slices.some(slice => slice.zeroPoint !== 0)) return weight;
  const data = decodeFloats(bias);
  const perTensor = weight.slices.length === 1;
  if (!perTensor && data.length !== weight.slices.length) return weight;
  const slices = weight.slices.map((slice, i) => widenSlice(slice, perTensor ? largest(data) : Math.abs(data[i] ?? 0), inputScale));
  return { ...weight, slices };
}

function widenSlice(slice: QParams, largestBias: number, inputScale: number): QParams {
  const least = (MARGIN * 2 * largestBias) / (INT32.high - (INT32.low + 1));
  const scale = inputScale * slice.scale;
  return scale < least && scale > 0 ? { ...slice, scale: Math.fround(slice.scale * (least / scale)) } : slice;
}

function largest(data: Float32Array): number {
  let most = 0;
  for (const x of data) {
    if (x > most) most = x;
    else if (-x > most) most = -x;
  }
  return most;
}
