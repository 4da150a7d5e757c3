/** Assigns the elements of a weight to output channels, and sums the weights of each channel. */
import { getInt } from '../../onnx/ir/attribute.js';
import type { Node } from '../../onnx/ir/model.js';
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import { countElements } from '../../tensor/shape.js';
import type { RawTensor } from '../../tensor/tensor.js';
import type { Dequantized } from '../qdq/dequantized.js';
import { openSums, type SumRun } from './sum-kernel.js';

export interface Channels {
  readonly count: number;
  /** The weight's axis of output channels. */
  readonly axis: number;
  /** Number of consecutive elements that add to the same channel. */
  readonly run: number;
  /** The output channel of the weight's element `index`. */
  readonly of: (index: number) => number;
}

/** Undefined for a vector, which has no output axis. */
export function channelsOf(node: Node, dims: readonly number[]): Channels | undefined {
  const [first = 0, second = 0] = dims;
  const inner = countElements(dims.slice(1));
  const rows = { count: first, axis: 0, run: inner, of: (i: number) => Math.floor(i / inner) };
  if (node.opType === 'Conv') return rows;
  if (node.opType === 'ConvTranspose') {
    const group = getInt(node, 'group', 1);
    const kernel = countElements(dims.slice(2));
    const inputsPerGroup = first / group;
    return {
      count: second * group,
      axis: 1,
      run: kernel,
      of: i => Math.floor(Math.floor(i / inner) / inputsPerGroup) * second + (Math.floor(i / kernel) % second),
    };
  }
  if (node.opType === 'Gemm' && getInt(node, 'transB', 0) === 1) return rows;
  const columns = dims.at(-1) ?? 0;
  // Stacked matrices have separate sums. Each one gets channels of its own, because the maximum over all is needed.
  const matrix = columns * (dims.at(-2) ?? 1);
  return dims.length < 2
    ? undefined
    : {
        count: (countElements(dims) / matrix) * columns,
        axis: dims.length - 1,
        run: 1,
        of: i => Math.floor(i / matrix) * columns + (i % columns),
      };
}

/** Per channel, the sum of the positive weights and the magnitude of the sum of the negative ones, after subtracting zero points. */
export function sumWeights(weight: Dequantized, constant: RawTensor, { count, run, of }: Channels): readonly [Float64Array, Float64Array] {
  const values = decodeRawTensor(constant).data as ArrayLike<number>;
  const [positive, negative] = [new Float64Array(count), new Float64Array(count)];
  // Both are sizes of trailing axes, so the smaller divides the larger.
  const inner = countElements(constant.dims.slice(axisOf(weight, constant) + 1));
  const step = weight.zeroPoints.length === 1 ? run : Math.min(run, inner);
  const sumOf = openSumsOf(values, step);
  for (let start = 0; start < values.length; start += step) {
    const zeroPoint = weight.zeroPoints[Math.floor(start / inner) % weight.zeroPoints.length] as number;
    const channel = of(start);
    for (let from = start; from < start + step; from += SHORT) {
      const [sum, magnitudes] = sumOf(from, Math.min(from + SHORT, start + step), zeroPoint);
      positive[channel] = (positive[channel] as number) + (magnitudes + sum) / 2;
      negative[channel] = (negative[channel] as number) + (magnitudes - sum) / 2;
    }
  }
  return [positive, negative];
}

/** For shorter runs, the call of the kernel costs more than it saves. */
const KERNEL_MIN_RUN = 32;

function openSumsOf(values: ArrayLike<number>, run: number): SumRun {
  if (run >= KERNEL_MIN_RUN && (values instanceof Int8Array || values instanceof Uint8Array)) return openSums(values);
  const sum = values instanceof Int32Array ? sumWide : sumShort;
  return (start, end, zeroPoint) => sum(values, start, end, zeroPoint);
}

/** Sums of so many 16-bit integers minus a zero point stay below 2³⁰. */
const SHORT = 8192;

/** The sum and the sum of magnitudes, in 32-bit integers and without a branch: weights of both signs alternate at random. */
function sumShort(values: ArrayLike<number>, start: number, end: number, zeroPoint: number): readonly [number, number] {
  let sum = 0;
  let magnitudes = 0;
  for (let i = start; i < end; i++) {
    const w = ((values[i] as number) - zeroPoint) | 0;
    const sign = w >> 31;
    sum = (sum + w) | 0;
    magnitudes = (magnitudes + ((w ^ sign) - sign)) | 0;
  }
  return [sum, magnitudes];
}

/** The same of 32-bit integers. */
function sumWide(values: ArrayLike<number>, start: number, end: number, zeroPoint: number): readonly [number, number] {
  let sum = 0;
  let magnitudes = 0;
  for (let i = start; i < end; i++) {
    const w = (values[i] as number) - zeroPoint;
    sum += w;
    magnitudes += Math.abs(w);
  }
  return [sum, magnitudes];
}

/** The axis, counted from the front. */
export function axisOf({ axis }: Dequantized, { dims }: RawTensor): number {
  return axis < 0 ? axis + dims.length : axis;
}
