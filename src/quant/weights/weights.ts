/** Quantizes weights. */
import { getDefined } from '../../base/invariant.js';
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import type { Shape } from '../../tensor/shape.js';
import { countElements } from '../../tensor/shape.js';
import { makeTensor, type RawTensor } from '../../tensor/tensor.js';
import type { Range, TensorQParams } from '../integers/qparams.js';
import { QuantError } from '../integers/quant-error.js';
import { constantPlace, MOST_CONSTANT } from '../integers/quantize-kernel.js';
import { quantizeMeasured } from '../integers/quantize-linear.js';
import type { IntegerRange, IntegerScheme } from '../integers/quantized-dtype.js';
import { findExtremes } from '../integers/signal-noise.js';
import { chooseWeightQParams, type Slice, type WeightRangeMethod } from '../range/weight-range.js';

/** The float32 elements of a constant. */
export function decodeFloats(constant: RawTensor): Float32Array {
  const known = DECODED.get(constant);
  if (known !== undefined) return known;
  const { data } = decodeRawTensor(constant as RawTensor & { readonly dtype: 'float32' });
  DECODED.set(constant, data);
  return data;
}

/** Cache: unaligned bytes of a file are copied once per tensor. */
const DECODED = new WeakMap<RawTensor, Float32Array>();

/** The constant whose elements are in the kernel's place, which is not kept alive by that. */
let inPlace: WeakRef<RawTensor> | undefined;

/**
 * Calls `use` with the elements of a constant, which it must neither keep nor change.
 * They are copied once into the memory of the kernels, at a place that all constants share; those that it cannot hold are decoded.
 */
export function withFloats<T>(constant: RawTensor, use: (data: Float32Array) => T): T {
  const { bytes } = constant;
  const length = bytes.byteLength / Float32Array.BYTES_PER_ELEMENT;
  if (length > MOST_CONSTANT) return use(decodeFloats(constant));
  const place = constantPlace().subarray(0, length);
  if (inPlace?.deref() !== constant) {
    new Uint8Array(place.buffer, place.byteOffset, place.byteLength).set(bytes);
    inPlace = new WeakRef(constant);
  }
  return use(place);
}

export interface WeightRequest {
  readonly scheme: IntegerScheme;
  readonly method: WeightRangeMethod;
  /** One scale per slice along this axis; undefined: one scale in total. */
  readonly axis: number | undefined;
  /** Name of the weight, for messages. */
  readonly name: string;
}

/**
 * Scale and zero point of a weight from its elements, in total or per slice along the axis.
 * @throws QuantError `bad-range` if an element is NaN or infinite.
 */
export function computeWeightQParams(weight: RawTensor, { scheme, method, axis, name }: WeightRequest): TensorQParams {
  const chosen = withFloats(weight, data =>
    slicesOf(data, weight.dims, axis).map(slice => chooseWeightQParams(slice, rangeOf(slice, name), scheme, method)),
  );
  return { dtype: scheme.dtype, axis, slices: chosen };
}

function slicesOf(data: Float32Array, dims: Shape, axis: number | undefined): Slice[] {
  if (axis === undefined) return [{ data, runs: [[0, data.length]] }];
  const size = dims[axis] ?? 0;
  const inner = countElements(dims.slice(axis + 1));
  const outer = countElements(dims.slice(0, axis));
  return Array.from({ length: size }, (_, slice) => ({
    data,
    runs: Array.from({ length: outer }, (_, run) => {
      const start = (run * size + slice) * inner;
      return [start, start + inner] as const;
    }),
  }));
}

/** The smallest and the largest element; 0 … 0 if there is none. */
function rangeOf({ data, runs }: Slice, name: string): Range {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const [start, end] of runs) {
    if (start === end) continue;
    const run = findExtremes(data.subarray(start, end));
    if (run === undefined) throw notFinite(data, [start, end], name);
    [low, high] = [Math.min(low, run.low), Math.max(high, run.high)];
  }
  return low > high ? { low: 0, high: 0 } : { low, high };
}

function notFinite(data: Float32Array, [start, end]: readonly [number, number], name: string): QuantError {
  const at = start + data.subarray(start, end).findIndex(x => !Number.isFinite(x));
  return new QuantError('bad-range', `weight "${name}": element ${at} is ${data[at]}`);
}

/**
 * The integers of a weight, and their SQNR, 10·log10(Σx² / Σ(x − q)²) in dB. Infinity if nothing is lost.
 * @param limits where integers saturate.
 */
export function quantizeWeight(
  weight: RawTensor,
  qparams: TensorQParams,
  limits: IntegerRange,
): { readonly integers: RawTensor; readonly sqnrDb: number } {
  const { integers, losses } = withFloats(weight, data => quantizeMeasured(data, weight.dims, qparams, limits));
  const slices = qparams.slices.length;
  let signal = 0;
  let noise = 0;
  // Slice by slice, each with all its runs.
  for (let slice = 0; slice < slices; slice++) {
    for (let run = slice; run < losses.length; run += slices) {
      const loss = getDefined(losses[run], 'loss of a run');
      signal += loss.signal;
      noise += loss.noise;
    }
  }
  return { integers: encodeRawTensor(makeTensor(qparams.dtype, weight.dims, integers as never)), sqnrDb: toDb(signal, noise) };
}

/** 10·log10(signal / noise); Infinity where there is no noise. */
export function toDb(signal: number, noise: number): number {
  return noise === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10(signal / noise);
}
