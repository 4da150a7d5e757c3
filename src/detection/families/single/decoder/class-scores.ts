/** Reads the class scores of output rows. */
import type { Activation } from './decoder.js';
import type { OutputRows } from './output-rows.js';

/** Returns the scores of a row in a buffer that the next call overwrites. */
export interface ClassScores {
  read(row: number): Float64Array;
}

/** `first` is the channel of class 0. */
export function readClassScores(
  rows: OutputRows,
  { first, count, activation }: { first: number; count: number; activation: Activation },
): ClassScores {
  const scores = new Float64Array(count);
  const activate = activationOf(activation);
  return {
    read(row) {
      const at = row * rows.rowStride;
      for (let label = 0; label < count; label++) scores[label] = activate(rows.data[at + (first + label) * rows.channelStride] as number);
      return scores;
    },
  };
}

/** Softmax over all classes of a row. With `background`, the result omits the first class. */
export function readSoftmaxScores(rows: OutputRows, background: boolean): ClassScores {
  const skipped = background ? 1 : 0;
  const scores = new Float64Array(rows.channels - skipped);
  return {
    read(row) {
      const logit = (channel: number): number => rows.data[row * rows.rowStride + channel * rows.channelStride] as number;
      let most = Number.NEGATIVE_INFINITY;
      for (let channel = 0; channel < rows.channels; channel++) most = Math.max(most, logit(channel));
      let sum = 0;
      for (let channel = 0; channel < rows.channels; channel++) sum += Math.exp(logit(channel) - most);
      for (let label = 0; label < scores.length; label++) scores[label] = Math.exp(logit(label + skipped) - most) / sum;
      return scores;
    },
  };
}

export function activationOf(activation: Activation): (value: number) => number {
  return activation === 'sigmoid' ? sigmoid : value => value;
}

export function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}
