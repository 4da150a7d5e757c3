/** PyTorch's bilinear resize of floats: half-pixel centers, no antialiasing, also when shrinking. */
import type { ImageSize } from './image-size.js';

/** Sampling of one axis: each output is `values[low] * (1 - weight) + values[high] * weight`. */
export interface AxisSamples {
  readonly low: Int32Array;
  readonly high: Int32Array;
  /** Float32 weight of `high`. */
  readonly weight: Float32Array;
}

/**
 * The sampling of one axis from `from` to `to` positions, in float32: source = max(ratio · (i + 0.5) − 0.5, 0) with ratio = from / to.
 * @param window output positions `start` ≤ i < `end`. Default: all.
 * @see PyTorch `torch.nn.functional.interpolate`, mode bilinear, align_corners false, with the ratio of the integer sizes.
 */
export function sampleAxis(
  from: number,
  to: number,
  window: { readonly start: number; readonly end: number } = { start: 0, end: to },
): AxisSamples {
  const count = Math.max(window.end - window.start, 0);
  const low = new Int32Array(count);
  const high = new Int32Array(count);
  const weight = new Float32Array(count);
  const ratio = Math.fround(from / to);
  for (let i = 0; i < count; i++) {
    const source = Math.max(Math.fround(Math.fround(ratio * (window.start + i + 0.5)) - 0.5), 0);
    const below = Math.min(Math.floor(source), from - 1);
    low[i] = below;
    high[i] = Math.min(below + 1, from - 1);
    weight[i] = source - below;
  }
  return { low, high, weight };
}

/** Fills `row` with row `y` of a plane. Values are finite float32. */
export type ReadRow = (row: Float32Array, y: number) => void;

/**
 * Resizes one plane into a region of a larger one. Only final sums are rounded to float32. Only rows that contribute are read, each about once.
 *
 * @param target  receives `to.height` × `to.width` values from element `offset` on, with rows `rowStride` apart. Changed in place.
 */
export function resizeBilinearInto(
  readRow: ReadRow,
  from: ImageSize,
  target: Float32Array,
  to: ImageSize & { readonly rowStride: number; readonly offset: number },
): void {
  if (from.height === to.height && from.width === to.width) {
    for (let y = 0, start = to.offset; y < to.height; y++, start += to.rowStride) readRow(target.subarray(start, start + to.width), y);
    return;
  }
  const xs = sampleAxis(from.width, to.width);
  const ys = sampleAxis(from.height, to.height);
  const source = new Float32Array(from.width);
  const blend = (row: Float64Array, y: number): void => {
    readRow(source, y);
    blendRow(row, source, xs);
  };
  // Source rows blended along x. The lower row of one output row is often the upper row of the next.
  let upper = new Float64Array(to.width);
  let lower = new Float64Array(to.width);
  let inUpper = -1;
  let inLower = -1;
  for (let y = 0; y < to.height; y++) {
    const [top, bottom] = [ys.low[y] as number, ys.high[y] as number];
    if (inUpper !== top) {
      [upper, lower, inUpper, inLower] = [lower, upper, inLower, inUpper];
      if (inUpper !== top) blend(upper, top);
      inUpper = top;
    }
    if (inLower !== bottom) blend(lower, bottom);
    inLower = bottom;
    const weight = ys.weight[y] as number;
    const out = to.offset + y * to.rowStride;
    for (let x = 0; x < to.width; x++) target[out + x] = (upper[x] as number) * (1 - weight) + (lower[x] as number) * weight;
  }
}

function blendRow(row: Float64Array, source: Float32Array, { low, high, weight }: AxisSamples): void {
  for (let x = 0; x < row.length; x++) {
    const share = weight[x] as number;
    row[x] = (source[low[x] as number] as number) * (1 - share) + (source[high[x] as number] as number) * share;
  }
}

/** Resizes row-major `source` from `from` to `to`; a new array. */
export function resizeBilinear(source: Float32Array, from: ImageSize, to: ImageSize): Float32Array {
  const target = new Float32Array(to.height * to.width);
  const readRow: ReadRow = (row, y) => row.set(source.subarray(y * from.width, (y + 1) * from.width));
  resizeBilinearInto(readRow, from, target, { ...to, rowStride: to.width, offset: 0 });
  return target;
}
