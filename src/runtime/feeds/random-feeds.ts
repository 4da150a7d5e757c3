/** Seeded random tensors for the inputs of a model. */

import { getValue } from '../../onnx/ir/edit.js';
import type { Model, Value } from '../../onnx/ir/model.js';
import type { DType } from '../../tensor/dtype.js';
import { encodeFloat16Array } from '../../tensor/numeric/half.js';
import { countElements } from '../../tensor/shape.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { RuntimeError } from '../session/runtime-error.js';

export interface FeedOptions {
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Sizes of free dimensions by name. */
  readonly sizes: Readonly<Record<string, number>>;
  /** The size of any other free dimension. */
  readonly freeSize: number;
  /** A free first size of inputs, instead of `freeSize`. */
  readonly batch?: number | undefined;
  /** Height and width of images, instead of `freeSize`: inputs [N, C, H, W] or [N, H, W, C], or [3, H, W] or [H, W, 3]. */
  readonly image?: ImageSides | undefined;
  /** Free sizes of signals after their first, instead of `freeSize`: inputs of floats [N, length] or [N, C, length]. */
  readonly length?: number | undefined;
  /** Integers of 32 and 64 bits are below this; default 10. */
  readonly integersBelow?: number | undefined;
}

const INTEGERS_BELOW = 10;

export type ImageSides = readonly [height: number, width: number];

const CHANNELS: readonly unknown[] = [1, 3];

/** Axes of height and width of an image, or of a batch of them, whose channels are first or last; undefined for other inputs. */
function sidesOf({ dtype, dims }: TensorType): readonly [height: number, width: number] | undefined {
  if (!/^(float|u?int)/.test(dtype ?? '')) return undefined;
  if (dims?.length === 4) return CHANNELS.includes(dims[3]) && !CHANNELS.includes(dims[1]) ? [1, 2] : [2, 3];
  if (dims?.length !== 3) return undefined;
  return dims[0] === 3 ? [1, 2] : dims[2] === 3 && !/^float/.test(dtype ?? '') ? [0, 1] : undefined;
}

/** Whether a height or width of an image is free, and `sizes` does not fix it. */
export function hasFreeSides({ graph }: Model, sizes: FeedOptions['sizes']): boolean {
  return graph.inputs.some(id => {
    const { type, constant } = getValue(graph, id);
    if (constant !== undefined || type?.kind !== 'tensor') return false;
    return (
      sidesOf(type)?.some(axis => {
        const dim = type.dims?.[axis];
        return dim === undefined || (typeof dim === 'string' && sizes[dim] === undefined);
      }) === true
    );
  });
}

/** Whether the first size of an input is free, and `sizes` does not fix it. */
export function hasFreeBatch({ graph }: Model, sizes: FeedOptions['sizes']): boolean {
  return graph.inputs.some(id => {
    const { type, constant } = getValue(graph, id);
    if (constant !== undefined || type?.kind !== 'tensor' || type.dims === undefined || type.dims.length === 0) return false;
    const [dim] = type.dims;
    return dim === undefined || (typeof dim === 'string' && sizes[dim] === undefined);
  });
}

/** Whether a signal has a free size after its first, and `sizes` does not fix it. */
export function hasFreeLength({ graph }: Model, sizes: FeedOptions['sizes']): boolean {
  return graph.inputs.some(id => {
    const { type, constant } = getValue(graph, id);
    if (constant !== undefined || type?.kind !== 'tensor' || !isSignal(type)) return false;
    return type.dims?.slice(1).some(dim => dim === undefined || (typeof dim === 'string' && sizes[dim] === undefined)) === true;
  });
}

/** Whether an input takes integers, which may be indices into a small table. */
export function hasIntegers({ graph }: Model): boolean {
  return graph.inputs.some(id => {
    const { type, constant } = getValue(graph, id);
    return constant === undefined && type?.kind === 'tensor' && (type.dtype === 'int64' || type.dtype === 'int32');
  });
}

type TensorType = Extract<Value['type'], { readonly kind: 'tensor' }>;

function isSignal(type: TensorType): boolean {
  const rank = type.dims?.length ?? 0;
  return (rank === 2 || rank === 3) && type.dtype?.startsWith('float') === true && sidesOf(type) === undefined;
}

/**
 * One tensor per input of `model` without a default: floats from a standard normal distribution, integers uniform below `integersBelow` (8 bits: all values), fair bools.
 * @throws RuntimeError `random-input` if an input's type is unknown or has no random form.
 */
export function makeRandomFeeds(model: Model, options: FeedOptions): Readonly<Record<string, Tensor>> {
  const { graph } = model;
  const inputs = graph.inputs.map(id => graph.values.get(id)).filter(value => value !== undefined && value.constant === undefined);
  return Object.fromEntries(inputs.map(input => [input?.name ?? '', makeRandomInput(input, options)]));
}

function makeRandomInput(input: Value | undefined, options: FeedOptions): Tensor {
  const type = input?.type;
  if (type?.kind !== 'tensor' || type.dtype === undefined || type.dims === undefined) throw noRandomForm(input, 'its type is unknown');
  const { image, length, batch, sizes, freeSize } = options;
  const sides = image === undefined ? undefined : sidesOf(type);
  const sideOf = (axis: number): number | undefined => image?.[sides?.indexOf(axis) ?? -1];
  const sizeOf = (axis: number): number => sideOf(axis) ?? (axis === 0 ? batch : isSignal(type) ? length : undefined) ?? freeSize;
  const dims = type.dims.map((dim, axis) => {
    if (typeof dim === 'number') return dim;
    return (dim === undefined ? undefined : sizes[dim]) ?? sizeOf(axis);
  });
  const tensor = makeRandomTensor(type.dtype, dims, options);
  if (tensor === undefined) throw noRandomForm(input, `${type.dtype} has no random form`);
  return tensor;
}

function noRandomForm(input: Value | undefined, reason: string): RuntimeError {
  return new RuntimeError('random-input', `input "${input?.name}" cannot have random values: ${reason}`, {
    help: 'connect data if the stage has such an input, or set `samples: 0` to skip the comparison with random inputs',
  });
}

function makeRandomTensor(
  dtype: DType,
  dims: readonly number[],
  { random, integersBelow = INTEGERS_BELOW }: FeedOptions,
): Tensor | undefined {
  const from = { length: countElements(dims) };
  const below = (limit: number) => () => Math.floor(random() * limit);
  switch (dtype) {
    case 'float32':
      return makeTensor(
        dtype,
        dims,
        Float32Array.from(from, () => normal(random)),
      );
    case 'float64':
      return makeTensor(
        dtype,
        dims,
        Float64Array.from(from, () => normal(random)),
      );
    case 'float16':
      return makeTensor(dtype, dims, encodeFloat16Array(Float64Array.from(from, () => normal(random))));
    case 'uint8':
      return makeTensor(dtype, dims, Uint8Array.from(from, below(256)));
    case 'int8':
      return makeTensor(
        dtype,
        dims,
        Int8Array.from(from, () => Math.floor(random() * 256) - 128),
      );
    case 'int32':
      return makeTensor(dtype, dims, Int32Array.from(from, below(integersBelow)));
    case 'int64':
      return makeTensor(
        dtype,
        dims,
        BigInt64Array.from(from, () => BigInt(below(integersBelow)())),
      );
    case 'bool':
      return makeTensor(dtype, dims, Uint8Array.from(from, below(2)));
    default:
      return undefined;
  }
}

/** Box and Muller, 1958. */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
