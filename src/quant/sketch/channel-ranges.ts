/** Minimum and maximum of each channel (slice of axis 1) of an activation. */
import { countElements, type Shape } from '../../tensor/shape.js';
import { QuantError } from '../integers/quant-error.js';

/** One float32 entry per channel; Infinity and −Infinity for a channel without a finite element. */
export interface ChannelRanges {
  readonly min: Float32Array;
  readonly max: Float32Array;
}

/** NaN and infinities are ignored. Undefined if there is no axis 1. */
export function findChannelRanges(data: Float32Array, dims: Shape): ChannelRanges | undefined {
  const channels = dims[1];
  if (channels === undefined) return undefined;
  const min = new Float32Array(channels).fill(Number.POSITIVE_INFINITY);
  const max = new Float32Array(channels).fill(Number.NEGATIVE_INFINITY);
  const inner = countElements(dims.slice(2));
  for (let start = 0, channel = 0; start < data.length; start += inner, channel = (channel + 1) % channels) {
    let low = min[channel] as number;
    let high = max[channel] as number;
    for (let i = start; i < start + inner; i++) {
      const x = data[i] as number;
      if (x - x !== 0) continue;
      if (x < low) low = x;
      if (x > high) high = x;
    }
    [min[channel], max[channel]] = [low + 0, high + 0];
  }
  return { min, max };
}

/** @throws QuantError `channels-differ` if two samples have different numbers of channels. */
export function mergeChannelRanges(a: ChannelRanges | undefined, b: ChannelRanges | undefined): ChannelRanges | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.min.length !== b.min.length) {
    throw new QuantError('channels-differ', `two samples have ${a.min.length} and ${b.min.length} channels`, {
      help: 'calibrate without perChannel, or with samples of one shape',
    });
  }
  return { min: a.min.map((x, i) => Math.min(x, b.min[i] as number)), max: a.max.map((x, i) => Math.max(x, b.max[i] as number)) };
}
