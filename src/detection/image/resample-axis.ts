/** Filter taps of a resized axis: the source positions and weights of each output position. */
import type { Preprocessing } from './preprocessing-schema.js';

/** How pixels are resampled. */
export type Sampling = Pick<Preprocessing, 'filter' | 'antialias' | 'rounding'>;

/** The value of output position i is the sum over k < `taps` of source[first[i] + k] · weights[i · taps + k]. */
export interface AxisTaps {
  readonly taps: number;
  readonly first: Int32Array;
  readonly weights: Float64Array;
}

interface Tap {
  readonly at: number;
  readonly weight: number;
}

/** Fractional bits of the weights for bytes: in Pillow's Resample.c, and OpenCV's INTER_RESIZE_COEF_BITS. */
const PILLOW_BITS = 22;
export const OPENCV_BITS = 11;

/** Free parameter of the cubic filter: in Pillow and in PyTorch with antialiasing, and in OpenCV and in PyTorch without. */
const [CUBIC_ANTIALIASED, CUBIC_PLAIN] = [-0.5, -0.75];

/**
 * @param area mode of the filter 'area': it averages only where neither axis is enlarged.
 * @see Pillow `src/libImaging/Resample.c`; OpenCV `modules/imgproc/src/resize.cpp`.
 */
export function tapsOfAxis(from: number, to: number, sampling: Sampling, area: 'average' | 'linear'): AxisTaps {
  const rows = Array.from({ length: to }, (_, i) => tapsAt(i, from, to, sampling, area));
  return packTaps(rows, from, fractionalBits(sampling));
}

function tapsAt(i: number, from: number, to: number, { filter, antialias }: Sampling, area: 'average' | 'linear'): readonly Tap[] {
  const scale = from / to;
  if (filter === 'area') return area === 'average' ? coveredTaps(i, scale, from) : areaLinearTaps(i, scale);
  if (antialias) return widenedTaps(i, scale, from, filter);
  return plainTaps(i, scale, filter);
}

function fractionalBits({ filter, antialias, rounding }: Sampling): number | undefined {
  if (rounding === 'none' || filter === 'area') return undefined;
  return antialias ? PILLOW_BITS : OPENCV_BITS;
}

/** The filter widened to the source pixels that one output pixel covers, with weights normalized to a sum of 1. */
function widenedTaps(i: number, scale: number, from: number, filter: 'linear' | 'cubic'): readonly Tap[] {
  const widening = Math.max(scale, 1);
  const support = (filter === 'linear' ? 1 : 2) * widening;
  const center = (i + 0.5) * scale;
  const first = Math.max(Math.trunc(center - support + 0.5), 0);
  const end = Math.min(Math.trunc(center + support + 0.5), from);
  const taps = Array.from({ length: end - first }, (_, k) => ({
    at: first + k,
    weight: kernel((first + k - center + 0.5) / widening, filter, CUBIC_ANTIALIASED),
  }));
  const total = taps.reduce((sum, { weight }) => sum + weight, 0);
  return taps.map(({ at, weight }) => ({ at, weight: weight / total }));
}

/** Two or four neighbors of the half-pixel center, independent of the scale. */
function plainTaps(i: number, scale: number, filter: 'linear' | 'cubic'): readonly Tap[] {
  const center = Math.fround((i + 0.5) * scale - 0.5);
  const base = Math.floor(center);
  const offsets = filter === 'linear' ? [0, 1] : [-1, 0, 1, 2];
  return offsets.map(offset => ({ at: base + offset, weight: kernel(base + offset - center, filter, CUBIC_PLAIN) }));
}

/** Each covered source pixel, weighted by its covered share. */
function coveredTaps(i: number, scale: number, from: number): readonly Tap[] {
  const start = i * scale;
  const end = Math.min(start + scale, from);
  const taps: Tap[] = [];
  for (let at = Math.floor(start); at < end; at++) {
    const share = Math.min(at + 1, end) - Math.max(at, start);
    // Shares below a thousandth of a pixel are rounding errors of start and end.
    if (share > 1e-3) taps.push({ at, weight: share / (end - start) });
  }
  return taps;
}

function areaLinearTaps(i: number, scale: number): readonly Tap[] {
  const at = Math.floor(i * scale);
  const fraction = i + 1 - (at + 1) / scale;
  const weight = fraction <= 0 ? 0 : fraction - Math.floor(fraction);
  return [
    { at, weight: 1 - weight },
    { at: at + 1, weight },
  ];
}

function kernel(x: number, filter: 'linear' | 'cubic', a: number): number {
  const d = Math.abs(x);
  if (filter === 'linear') return Math.max(1 - d, 0);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? a * (((d - 5) * d + 8) * d - 4) : 0;
}

/** Positions outside the axis are clamped to its ends. With `bits`, weights are rounded to multiples of 2^−bits. */
function packTaps(rows: readonly (readonly Tap[])[], from: number, bits: number | undefined): AxisTaps {
  const taps = Math.min(
    rows.reduce((most, row) => Math.max(most, row.length), 1),
    from,
  );
  const first = new Int32Array(rows.length);
  const weights = new Float64Array(rows.length * taps);
  const inside = (at: number) => Math.min(Math.max(at, 0), from - 1);
  for (const [i, row] of rows.entries()) {
    const start = Math.min(inside(row[0]?.at ?? 0), from - taps);
    first[i] = start;
    for (const { at, weight } of row) {
      const to = i * taps + inside(at) - start;
      weights[to] = (weights[to] as number) + (bits === undefined ? weight : Math.round(weight * 2 ** bits) / 2 ** bits);
    }
  }
  return { taps, first, weights };
}
