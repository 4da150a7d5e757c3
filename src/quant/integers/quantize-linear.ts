/** QuantizeLinear and DequantizeLinear on arrays. */
import { getDefined } from '../../base/invariant.js';
import { countElements, type Shape } from '../../tensor/shape.js';
import { TensorError } from '../../tensor/tensor-error.js';
import type { QParams, TensorQParams } from './qparams.js';
import { MEASURE_GROUP, QUANTIZE_GROUP, quantizeAndMeasureGroups, quantizeGroups, type SignalAndNoise } from './quantize-kernel.js';
import { type IntegerRange, type QuantizedDType, storageRange } from './quantized-dtype.js';
import { saturate } from './rounding.js';
import { addPlainly, KERNEL_MIN_ELEMENTS, measureSignalAndNoise } from './signal-noise.js';

/** A local constant: looking up a global per element is slow where globals are intercepted, as in jest. */
const { fround } = Math;

export type QuantizedArray = Int8Array | Uint8Array | Int16Array | Uint16Array;

const ARRAYS = { int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array } as const;

export function makeQuantizedArray(dtype: QuantizedDType, length: number): QuantizedArray {
  return new ARRAYS[dtype](length);
}

/**
 * Quantizes `x`: round(x / scale) + zeroPoint, saturated to the type. The quotient is a float32 division, rounded half to even.
 *
 * @param x float32 values of shape `dims`, row-major; not changed.
 * @throws TensorError `qparams-length` if the number of slices is not the size of the axis (one slice for per-tensor).
 * @see ONNX QuantizeLinear, opset 13.
 */
export function quantizeLinear(x: Float32Array, dims: Shape, qparams: TensorQParams): QuantizedArray {
  const y = makeQuantizedArray(qparams.dtype, x.length);
  const integers = storageRange(qparams.dtype);
  forEachSlice(dims, qparams, (slice, start, end) => quantizeRun(x.subarray(start, end), y.subarray(start, end), slice, integers));
  return y;
}

export interface MeasuredIntegers {
  readonly integers: QuantizedArray;
  /** Of each contiguous run of elements of one slice, in memory order. */
  readonly losses: readonly SignalAndNoise[];
}

/**
 * Quantizes finite elements as `quantizeLinear` does, but with integers that saturate at `limits`, and measures what each run loses.
 * @throws TensorError `qparams-length` as quantizeLinear.
 */
export function quantizeMeasured(x: Float32Array, dims: Shape, qparams: TensorQParams, limits: IntegerRange): MeasuredIntegers {
  const integers = makeQuantizedArray(qparams.dtype, x.length);
  const losses: SignalAndNoise[] = [];
  forEachSlice(dims, qparams, (slice, start, end) =>
    losses.push(quantizeMeasuredRun(x.subarray(start, end), integers.subarray(start, end), slice, limits)),
  );
  return { integers, losses };
}

function quantizeMeasuredRun(x: Float32Array, y: QuantizedArray, slice: QParams, limits: IntegerRange): SignalAndNoise {
  if (!hasKernel(y) || x.length < KERNEL_MIN_ELEMENTS) {
    quantizePlainly(x, y, 0, slice, limits);
    return measureSignalAndNoise(x, slice, limits);
  }
  const sum = quantizeAndMeasureGroups(x, y, slice, limits);
  quantizePlainly(x, y, x.length - (x.length % QUANTIZE_GROUP), slice, limits);
  return addPlainly(sum, x, x.length - (x.length % MEASURE_GROUP), slice, limits);
}

function quantizeRun(x: Float32Array, y: QuantizedArray, slice: QParams, integers: IntegerRange): void {
  const whole = hasKernel(y) && x.length >= KERNEL_MIN_ELEMENTS ? x.length - (x.length % QUANTIZE_GROUP) : 0;
  if (hasKernel(y) && whole > 0) quantizeGroups(x.subarray(0, whole), y.subarray(0, whole), slice, integers);
  quantizePlainly(x, y, whole, slice, integers);
}

function hasKernel(y: QuantizedArray): y is Int8Array | Uint8Array {
  return y instanceof Int8Array || y instanceof Uint8Array;
}

/** The elements from `start` on. */
function quantizePlainly(x: Float32Array, y: QuantizedArray, start: number, { scale, zeroPoint }: QParams, integers: IntegerRange): void {
  const [least, greatest] = [integers.low - zeroPoint, integers.high - zeroPoint];
  for (let i = start; i < x.length; i++) y[i] = saturate(fround((x[i] as number) / scale), least, greatest) + zeroPoint;
}

/**
 * The real numbers of `y`: float32((y − zeroPoint) · scale).
 * @throws TensorError `qparams-length` as quantizeLinear.
 * @see ONNX DequantizeLinear, opset 13.
 */
export function dequantizeLinear(y: QuantizedArray, dims: Shape, qparams: TensorQParams): Float32Array {
  const x = new Float32Array(y.length);
  forEachSlice(dims, qparams, ({ scale, zeroPoint }, start, end) => {
    for (let i = start; i < end; i++) x[i] = ((y[i] as number) - zeroPoint) * scale;
  });
  return x;
}

/** Calls `visit` with the parameters of each contiguous run [start, end) of elements of one slice, in memory order. */
function forEachSlice(dims: Shape, qparams: TensorQParams, visit: (slice: QParams, start: number, end: number) => void): void {
  const { axis, slices } = qparams;
  const size = axis === undefined ? 1 : (dims[axis] ?? 0);
  if (slices.length !== size) {
    throw new TensorError('qparams-length', `${slices.length} scales for axis ${axis ?? 'none'} of size ${size}`);
  }
  const inner = axis === undefined ? countElements(dims) : countElements(dims.slice(axis + 1));
  const outer = axis === undefined ? 1 : countElements(dims.slice(0, axis));
  for (let run = 0; run < outer * size; run++) {
    visit(getDefined(slices[run % size], 'slice'), run * inner, (run + 1) * inner);
  }
}
