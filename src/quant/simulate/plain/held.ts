/** What the plain executor holds of a value: a tensor, integers with scales, or a result that is not rounded yet. */
import { getDefined } from '../../../base/invariant.js';
import { countElements, type Shape } from '../../../tensor/shape.js';
import { makeTensor, type Tensor } from '../../../tensor/tensor.js';
import type { QParams } from '../../integers/qparams.js';
import type { QuantizedDType } from '../../integers/quantized-dtype.js';

export type Held =
  | { readonly kind: 'tensor'; readonly tensor: Tensor }
  | HeldIntegers
  /** Exact numbers, row-major. */
  | { readonly kind: 'exact'; readonly dims: Shape; readonly reals: Float64Array }
  | HeldResult;

/** The output of DequantizeLinear: real = (integer − zeroPoint) · scale, per slice along `axis`. */
export interface HeldIntegers {
  readonly kind: 'integers';
  readonly dims: Shape;
  readonly dtype: QuantizedDType | 'int32';
  readonly integers: Int32Array;
  readonly axis: number;
  readonly slices: readonly QParams[];
}

/** A result of an integer kernel, which depends on the parameters it is rounded to. */
export interface HeldResult {
  readonly kind: 'result';
  readonly dims: Shape;
  /** The integers, or undefined if the arithmetic has no integer kernel for the target and the activation functions. */
  readonly round: (target: Target, activations: readonly Activation[]) => Int32Array | undefined;
  readonly activations: readonly Activation[];
  /** The float value, as ONNX Runtime computes it from dequantized operands, before the activation functions. */
  readonly floats: () => Promise<Tensor>;
}

export interface Target extends QParams {
  readonly dtype: QuantizedDType;
  /** Limits of the integer type. */
  readonly low: number;
  readonly high: number;
}

/** An activation function between a layer and its rounding: a lower and an upper end. */
export interface Activation {
  readonly low: number;
  readonly high: number;
}

/** Strides of the slices: element i belongs to slice ⌊i / inner⌋ mod count. */
export function slicesOf(dims: Shape, axis: number, count: number): { readonly inner: number; readonly count: number } {
  return { inner: count === 1 ? countElements(dims) || 1 : countElements(dims.slice(axis + 1)), count };
}

/** The integers minus their zero points. */
export function centered({ dims, integers, axis, slices }: HeldIntegers): Int32Array {
  const { inner, count } = slicesOf(dims, axis, slices.length);
  const zeros = Int32Array.from(slices, slice => slice.zeroPoint);
  return integers.map((value, index) => value - (zeros[Math.floor(index / inner) % count] ?? 0));
}

/** Exact if the scales are powers of two. */
export function realsOf(held: HeldIntegers): Float64Array {
  const { inner, count } = slicesOf(held.dims, held.axis, held.slices.length);
  const integers = centered(held);
  return Float64Array.from(integers, (value, index) => value * getDefined(held.slices[Math.floor(index / inner) % count], 'slice').scale);
}

/** float32((integer − zeroPoint) · scale). @see ONNX DequantizeLinear */
export function floatsOf(held: HeldIntegers): Tensor<'float32'> {
  return makeTensor('float32', held.dims, Float32Array.from(realsOf(held)));
}
