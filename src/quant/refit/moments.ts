/** Mean and deviation of each channel of a layer's output over samples, and the error between two models. */
import type { Tensor } from '../../tensor/tensor.js';
import { QuantError } from '../integers/quant-error.js';

/** Sums of one model's output, in double. */
export interface Moments {
  /** Elements per channel. */
  count: number;
  readonly sums: Float64Array;
  readonly squares: Float64Array;
}

export const makeMoments = (channels: number): Moments => ({
  count: 0,
  sums: new Float64Array(channels),
  squares: new Float64Array(channels),
});

/** Adds one sample, whose channels lie along axis 1. @throws QuantError `layers-differ` for another number of channels or dtype. */
export function addMoments(moments: Moments, name: string, { dtype, dims, data }: Tensor): void {
  const channels = moments.sums.length;
  if (dtype !== 'float32' || dims[1] !== channels)
    throw new QuantError(
      'layers-differ',
      `layer "${name}": its output is ${dtype} [${dims.join(', ')}], expected float32 of ${channels} channels`,
    );
  const floats = data as Float32Array;
  const inner = dims.slice(2).reduce((product, dim) => product * dim, 1);
  const runs = (dims[0] ?? 0) * channels;
  for (let run = 0, at = 0; run < runs; run++) {
    let [sum, square] = [0, 0];
    for (const end = at + inner; at < end; at++) {
      const x = floats[at] as number;
      sum += x;
      square += x * x;
    }
    const channel = run % channels;
    moments.sums[channel] = (moments.sums[channel] ?? 0) + sum;
    moments.squares[channel] = (moments.squares[channel] ?? 0) + square;
  }
  moments.count += (dims[0] ?? 0) * inner;
}

export interface ChannelStatistics {
  readonly means: Float64Array;
  /** Population deviations. */
  readonly deviations: Float64Array;
}

export function statisticsOf({ count, sums, squares }: Moments): ChannelStatistics {
  const means = sums.map(sum => (count === 0 ? 0 : sum / count));
  const deviations = squares.map((square, c) => (count === 0 ? 0 : Math.sqrt(Math.max(0, square / count - (means[c] ?? 0) ** 2))));
  return { means, deviations };
}
