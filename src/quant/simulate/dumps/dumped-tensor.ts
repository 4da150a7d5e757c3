/** A tensor that a device dumped, as steps of the quantized value that it belongs to. */
import { byteLength } from '../../../tensor/dtype.js';
import { decodeRawTensor, makeRawTensor } from '../../../tensor/raw-tensor.js';
import { formatShape } from '../../../tensor/shape.js';
import { makeTensor, type Tensor } from '../../../tensor/tensor.js';
import { QuantError } from '../../integers/quant-error.js';
import { makeQuantizedArray } from '../../integers/quantize-linear.js';
import { type QuantizedDType, storageRange } from '../../integers/quantized-dtype.js';
import type { QuantizedValue } from './quantized-values.js';

export type Layout = 'nchw' | 'nhwc';

/** Integers of the value; `offGrid`: elements of a float dump that are no multiple of the scale. */
export interface DumpedSteps {
  readonly steps: Float64Array;
  readonly offGrid: number;
}

/** A step is off the grid if it is further than this from an integer: float32 holds steps of 16 bits with 8 bits to spare. */
const ON_GRID = 1 / 256;

/** The elements of a file without a header: the integers of the value, or float32, as its size tells. @throws QuantError `dump-shape`. */
export function decodeRawDump(bytes: Uint8Array, value: QuantizedValue, layout: Layout): Tensor {
  const dims = layout === 'nhwc' ? lastChannels(value.dims) : value.dims;
  const count = dims.reduce((product, dim) => product * dim, 1);
  const dtype = ([value.dtype, 'float32'] as const).find(name => byteLength(name, count) === bytes.length);
  if (dtype !== undefined) return decodeRawTensor(makeRawTensor(dtype, dims, bytes));
  throw new QuantError(
    'dump-shape',
    `the dump of "${value.name}" has ${bytes.length} bytes; ${formatShape(value.dims)} has ${byteLength(value.dtype, count)} as ${value.dtype} and ${4 * count} as float32`,
    { help: 'dump the tensor of one image, without padding' },
  );
}

/** @param layout of the dump's elements. @throws QuantError `dump-shape`, `dump-type`. */
export function toSteps(tensor: Tensor, value: QuantizedValue, layout: Layout): DumpedSteps {
  const expected = layout === 'nhwc' ? lastChannels(value.dims) : value.dims;
  if (!sameShape(tensor.dims, expected)) {
    throw new QuantError(
      'dump-shape',
      `the dump of "${value.name}" is ${formatShape(tensor.dims)}, expected ${formatShape(expected)}${layout === 'nhwc' ? ' (nhwc)' : ''}`,
      sameShape(tensor.dims, lastChannels(value.dims)) ? { help: 'its channels come last: add --layout nhwc' } : {},
    );
  }
  const read = readSteps(tensor, value);
  return layout === 'nhwc' && value.dims.length > 2 ? { ...read, steps: channelsFirst(read.steps, value.dims) } : read;
}

/** As a tensor that a model takes in the place of the value. Steps are rounded and saturated. */
export function toTensor({ steps }: DumpedSteps, { dtype, dims }: QuantizedValue): Tensor {
  const { low, high } = storageRange(dtype);
  const data = makeQuantizedArray(dtype, steps.length);
  for (let index = 0; index < steps.length; index++) data[index] = Math.min(high, Math.max(low, Math.round(steps[index] ?? 0)));
  // The array has the type of the name.
  return makeTensor<QuantizedDType>(dtype, dims, data as never);
}

function readSteps(tensor: Tensor, { name, dtype, scale, zeroPoint }: QuantizedValue): DumpedSteps {
  const { data } = tensor;
  if (tensor.dtype === dtype) return { steps: Float64Array.from(data as ArrayLike<number>), offGrid: 0 };
  // Devices keep uint8 around 128 as int8 around 0.
  if (tensor.dtype === 'int8' && dtype === 'uint8')
    return { steps: Float64Array.from(data as ArrayLike<number>, step => step + zeroPoint), offGrid: 0 };
  if (tensor.dtype !== 'float32' && tensor.dtype !== 'float64') {
    throw new QuantError('dump-type', `the dump of "${name}" has type ${tensor.dtype}; expected ${dtype}, or float`, {
      help: 'dump the integers of the value, or its real numbers as float32',
    });
  }
  let offGrid = 0;
  const steps = Float64Array.from(data as ArrayLike<number>, real => {
    const step = real / scale + zeroPoint;
    if (!(Math.abs(step - Math.round(step)) <= ON_GRID)) offGrid++;
    return step;
  });
  return { steps, offGrid };
}

/** [N, C, H, W] → [N, H, W, C]; other ranks likewise. */
function lastChannels(dims: readonly number[]): readonly number[] {
  const [batch, channels, ...rest] = dims;
  return batch === undefined || channels === undefined || rest.length === 0 ? dims : [batch, ...rest, channels];
}

function channelsFirst(steps: Float64Array, [batch = 1, channels = 1, ...rest]: readonly number[]): Float64Array {
  const area = rest.reduce((product, dim) => product * dim, 1);
  const moved = new Float64Array(steps.length);
  for (let image = 0; image < batch; image++)
    for (let at = 0; at < area; at++)
      for (let channel = 0; channel < channels; channel++)
        moved[(image * channels + channel) * area + at] = steps[(image * area + at) * channels + channel] ?? 0;
  return moved;
}

function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((dim, index) => dim === b[index]);
}
