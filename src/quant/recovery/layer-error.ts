/** The error of a layer's output against float, summed over samples: its mean per channel, and its squares. */
import type { Tensor } from '../../tensor/tensor.js';
import { QuantError } from '../integers/quant-error.js';

/** Sums of squares behind the activation function, and QuantizeLinear if there is one. */
export interface OutputError {
  signal: number;
  noise: number;
}

export interface LayerError extends OutputError {
  /** Elements per channel. */
  count: number;
  /** Sum of float minus quantized, per channel. */
  readonly differences: Float64Array;
}

export function makeLayerError(channels: number): LayerError {
  return { count: 0, differences: new Float64Array(channels), signal: 0, noise: 0 };
}

export interface LayerTensors {
  readonly computed: Tensor;
  readonly seen: Tensor;
}

/** Adds one sample. @throws QuantError `layers-differ` if shapes differ, or the channels are not those of the bias. */
export function addLayerError(sum: LayerError, name: string, float: LayerTensors, quantized: LayerTensors): void {
  const own = getFloats(name, float.computed, quantized.computed);
  const channels = sum.differences.length;
  if (own.dims[1] !== channels) {
    throw new QuantError(
      'layers-differ',
      `layer "${name}": its output [${own.dims.join(', ')}] has no ${channels} channels, as its bias has`,
    );
  }
  const inner = own.dims.slice(2).reduce((product, dim) => product * dim, 1);
  const [rows = 0] = own.dims;
  for (let run = 0; run < rows * channels; run++) {
    const channel = run % channels;
    sum.differences[channel] = (sum.differences[channel] ?? 0) + sumOfDifferences(own.a, own.b, run * inner, inner);
  }
  sum.count += rows * inner;
  addOutputError(sum, name, float, quantized);
}

/** Adds one sample. @throws QuantError `layers-differ` if shapes differ. */
export function addOutputError(sum: OutputError, name: string, float: LayerTensors, quantized: LayerTensors): void {
  const { a, b } = getFloats(name, float.seen, quantized.seen);
  addSquares(sum, a, b);
}

/** Mean of float minus quantized per channel. */
export function meanDifferences({ differences, count }: LayerError): Float64Array {
  return differences.map(sum => (count === 0 ? 0 : sum / count));
}

/** Root mean square, over channels, of the mean error. */
export function rmsOfMeans(error: LayerError): number {
  const means = meanDifferences(error);
  return Math.sqrt(means.reduce((sum, mean) => sum + mean * mean, 0) / means.length);
}

function sumOfDifferences(a: Float32Array, b: Float32Array, start: number, count: number): number {
  let sum = 0;
  for (let i = start; i < start + count; i++) sum += (a[i] as number) - (b[i] as number);
  return sum;
}

function addSquares(sum: OutputError, a: Float32Array, b: Float32Array): void {
  let [signal, noise] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number;
    const error = x - (b[i] as number);
    signal += x * x;
    noise += error * error;
  }
  sum.signal += signal;
  sum.noise += noise;
}

function getFloats(name: string, float: Tensor, quantized: Tensor) {
  const same = float.dims.length === quantized.dims.length && float.dims.every((dim, axis) => dim === quantized.dims[axis]);
  if (same && float.dtype === 'float32' && quantized.dtype === 'float32') return { dims: float.dims, a: float.data, b: quantized.data };
  throw new QuantError(
    'layers-differ',
    `layer "${name}": its output is ${float.dtype} [${float.dims.join(', ')}] in float, but ${quantized.dtype} [${quantized.dims.join(', ')}] in the quantized model`,
    { help: 'connect the float model that was quantized' },
  );
}
