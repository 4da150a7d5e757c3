/** How does torch resize a map of floats? Bilinear, half-pixel centres, no antialiasing, also when it shrinks. */

/** Where each output position along one axis takes its value from: `values[low] * (1 - weight) + values[high] * weight`. */
export interface AxisSamples {
  readonly low: Int32Array;
  readonly high: Int32Array;
  /** Weight of `high`, float32. */
  readonly weight: Float32Array;
}

/**
 * The sampling of one axis from `from` to `to` positions, in float32: source = max(ratio · (i + 0.5) − 0.5, 0) with ratio = from / to.
 * @param window the output positions wanted, `start` ≤ i < `end`; all of them where it is left out.
 * @see PyTorch `torch.nn.functional.interpolate`, mode bilinear, align_corners false, the ratio from the integer sizes.
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

export interface Plane {
  readonly height: number;
  readonly width: number;
}

/** Fills `row` with the values of row `y` of a plane, finite float32. */
export type ReadRow = (row: Float32Array, y: number) => void;

/**
 * Resizes one plane into a corner of a larger one. Sums are not rounded to float32 before the end. Only rows that count are read, each about once.
 *
 * @param target  receives `to.height` × `to.width` values, its rows `rowStride` apart, from element `offset` on. Changed in place.
 */
export function resizeBilinearInto(
  readRow: ReadRow,
  from: Plane,
  target: Float32Array,
  to: Plane & { readonly rowStride: number; readonly offset: number },
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
  // Rows of the source, blended along x: the lower one of a row is often the upper one of the next.
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

/** `source` (`from.height` × `from.width`, row-major) resized to `to`; a new array. */
export function resizeBilinear(source: Float32Array, from: Plane, to: Plane): Float32Array {
  const target = new Float32Array(to.height * to.width);
  const readRow: ReadRow = (row, y) => row.set(source.subarray(y * from.width, (y + 1) * from.width));
  resizeBilinearInto(readRow, from, target, { ...to, rowStride: to.width, offset: 0 });
  return target;
}
