/** A tensor as channels of pictures: which axes are rows, channels, height and width. */

export interface ChannelGrid {
  readonly rows: number;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
}

/** [N, C, H, W] as it is. Fewer axes: [N, C] is a picture of one row per sample; [C, H, W] has one row. Further axes are rows. */
export function gridOf(dims: readonly number[]): ChannelGrid {
  const product = (from: number, to?: number): number => dims.slice(from, to).reduce((all, dim) => all * dim, 1);
  const rank = dims.length;
  if (rank <= 1) return { rows: 1, channels: 1, height: 1, width: product(0) };
  if (rank === 2) return { rows: 1, channels: 1, height: dims[0] ?? 1, width: dims[1] ?? 1 };
  if (rank === 3) return { rows: 1, channels: dims[0] ?? 1, height: dims[1] ?? 1, width: dims[2] ?? 1 };
  return { rows: product(0, rank - 3), channels: dims[rank - 3] ?? 1, height: dims[rank - 2] ?? 1, width: dims[rank - 1] ?? 1 };
}

export function channelOf(data: Float32Array, { channels, height, width }: ChannelGrid, row: number, channel: number): Float32Array {
  const size = height * width;
  const start = (row * channels + channel) * size;
  return data.subarray(start, start + size);
}

export function decodeFloats(base64: string): Float32Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

export function subtract(a: Float32Array, b: Float32Array): Float32Array {
  return a.map((value, index) => (b[index] ?? 0) - value);
}

export interface Extent {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
}

/** Of the finite values; zeros if there are none. */
export function extentOf(data: Float32Array): Extent {
  let [min, max, sum, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
  for (const value of data) {
    if (!Number.isFinite(value)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
    count++;
  }
  return count === 0 ? { min: 0, max: 0, mean: 0 } : { min, max, mean: sum / count };
}

/** Channels by the sum of squares of a difference, largest first. */
export function rankChannels(difference: Float32Array, grid: ChannelGrid, row: number): readonly number[] {
  const errors = Array.from({ length: grid.channels }, (_, channel) =>
    channelOf(difference, grid, row, channel).reduce((sum, value) => sum + value * value, 0),
  );
  return errors.map((_, channel) => channel).sort((a, b) => (errors[b] ?? 0) - (errors[a] ?? 0) || a - b);
}

/** Counts in equal bins between two bounds; values outside of them are in the first and last bin. */
export function countBins(data: Float32Array, { min, max }: Pick<Extent, 'min' | 'max'>, bins: number): readonly number[] {
  const counts = new Array<number>(bins).fill(0);
  const width = (max - min) / bins || 1;
  for (const value of data) {
    if (Number.isNaN(value)) continue;
    const bin = Math.max(0, Math.min(bins - 1, Math.floor((value - min) / width)));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}
