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

/**
 * Resizes one plane into a corner of a larger one.
 *
 * @param source  `from.height` × `from.width` float32 values, row-major.
 * @param target  receives `to.height` × `to.width` values, its rows `rowStride` apart, from element `offset` on. Changed in place.
 */
export function resizeBilinearInto(
  source: Float32Array,
  from: Plane,
  target: Float32Array,
  to: Plane & { readonly rowStride: number; readonly offset: number },
): void {
  const at = (index: number) => source[index] as number;
  const xs = sampleAxis(from.width, to.width);
  const ys = sampleAxis(from.height, to.height);
  for (let y = 0; y < to.height; y++) {
    const top = (ys.low[y] as number) * from.width;
    const bottom = (ys.high[y] as number) * from.width;
    const wy = ys.weight[y] as number;
    const out = to.offset + y * to.rowStride;
    for (let x = 0; x < to.width; x++) {
      const left = xs.low[x] as number;
      const right = xs.high[x] as number;
      const wx = xs.weight[x] as number;
      const upper = at(top + left) * (1 - wx) + at(top + right) * wx;
      const lower = at(bottom + left) * (1 - wx) + at(bottom + right) * wx;
      target[out + x] = upper * (1 - wy) + lower * wy;
    }
  }
}

/** `source` (`from.height` × `from.width`, row-major) resized to `to`; a new array. */
export function resizeBilinear(source: Float32Array, from: Plane, to: Plane): Float32Array {
  const target = new Float32Array(to.height * to.width);
  resizeBilinearInto(source, from, target, { ...to, rowStride: to.width, offset: 0 });
  return target;
}
