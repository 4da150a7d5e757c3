/** Resizes one plane of an image exactly as PyTorch, Pillow or OpenCV does, depending on the declared filter. */

import type { ImageSize } from './image-size.js';
import { type AxisTaps, OPENCV_BITS, type Sampling, tapsOfAxis } from './resample-axis.js';
import { resizeBilinear } from './resize.js';

const { floor, fround, max, min } = Math;

/**
 * `source` (`from.height` × `from.width`, row-major) resized to `to`; a new array.
 *
 * | sampling | equals |
 * |---|---|
 * | linear, no antialias, no rounding | torch `interpolate(mode="bilinear")` |
 * | linear or cubic, antialias, bytes | Pillow `BILINEAR`, `BICUBIC`: rounds after each axis |
 * | linear, cubic or area, no antialias, bytes | OpenCV `INTER_LINEAR`, `INTER_CUBIC`, `INTER_AREA`: rounds once |
 *
 * With rounding, sources must be integers 0…255. Without it, the antialiased and cubic filters are those of PyTorch on floats, in double precision.
 */
export function resamplePlane(source: Float32Array, from: ImageSize, to: ImageSize, sampling: Sampling): Float32Array {
  if (sampling.filter === 'linear' && !sampling.antialias && sampling.rounding === 'none') return resizeBilinear(source, from, to);
  const area = from.width >= to.width && from.height >= to.height ? 'average' : 'linear';
  const columns = tapsOfAxis(from.height, to.height, sampling, area);
  const across = alongRows(source, from, tapsOfAxis(from.width, to.width, sampling, area));
  switch (roundingOf(sampling, from, to)) {
    case 'none':
      return Float32Array.from(alongColumns(across, to.width, columns));
    case 'each-axis':
      return Float32Array.from(toBytes(alongColumns(toBytes(across, 'up'), to.width, columns), 'up'));
    case 'truncating':
      return alongColumnsTruncating(across, to.width, columns);
    case 'once':
      return Float32Array.from(toBytes(alongColumns(across, to.width, columns), 'even'));
    case 'halving':
      return Float32Array.from(toBytes(alongColumns(across, to.width, columns), 'up'));
  }
}

/** OpenCV has a special case where both sides are halved: linear and area are the integer mean of four bytes. */
function roundingOf(
  { filter, antialias, rounding }: Sampling,
  from: ImageSize,
  to: ImageSize,
): 'none' | 'each-axis' | 'truncating' | 'once' | 'halving' {
  if (rounding === 'none') return 'none';
  if (antialias && filter !== 'area') return 'each-axis';
  const halved = from.width === 2 * to.width && from.height === 2 * to.height;
  if (halved && filter !== 'cubic') return 'halving';
  return filter === 'linear' ? 'truncating' : 'once';
}

function alongRows(source: Float32Array, { height, width }: ImageSize, { taps, first, weights }: AxisTaps): Float64Array {
  const to = first.length;
  const target = new Float64Array(height * to);
  for (let row = 0; row < height; row++) {
    for (let x = 0; x < to; x++) {
      const at = row * width + (first[x] as number);
      const own = x * taps;
      let sum = 0;
      for (let k = 0; k < taps; k++) sum += (weights[own + k] as number) * (source[at + k] as number);
      target[row * to + x] = sum;
    }
  }
  return target;
}

function alongColumns(source: Float64Array, width: number, { taps, first, weights }: AxisTaps): Float64Array {
  const target = new Float64Array(first.length * width);
  for (let y = 0; y < first.length; y++) {
    const out = y * width;
    for (let k = 0; k < taps; k++) {
      const weight = weights[y * taps + k] as number;
      if (weight === 0) continue;
      const at = ((first[y] as number) + k) * width;
      for (let x = 0; x < width; x++) target[out + x] = (target[out + x] as number) + weight * (source[at + x] as number);
    }
  }
  return target;
}

/**
 * OpenCV's second pass of linear resizing with 16-bit multiplications: each product loses 4 bits before and 16 bits after, and the sum is rounded by
 * the remaining two. Results are slightly lower than exact ones, which models trained with OpenCV expect.
 */
function alongColumnsTruncating(source: Float64Array, width: number, { taps, first, weights }: AxisTaps): Float32Array {
  const one = 2 ** OPENCV_BITS;
  const target = new Float32Array(first.length * width);
  for (let y = 0; y < first.length; y++) {
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (let k = 0; k < taps; k++) {
        const weight = (weights[y * taps + k] as number) * one;
        const value = floor(((source[((first[y] as number) + k) * width + x] as number) * one) / 16);
        sum += floor((weight * value) / 65536);
      }
      target[y * width + x] = min(max(floor((sum + 2) / 4), 0), 255);
    }
  }
  return target;
}

/** Rounds to bytes: halves up as fixed-point arithmetic does, or to even as float32 arithmetic does. Changes and returns `values`. */
function toBytes(values: Float64Array, halves: 'up' | 'even'): Float64Array {
  for (let i = 0; i < values.length; i++) {
    const value = halves === 'up' ? (values[i] as number) : fround(values[i] as number);
    const below = floor(value);
    const rest = value - below;
    const up = rest > 0.5 || (rest === 0.5 && (halves === 'up' || below % 2 === 1)) ? 1 : 0;
    values[i] = min(max(below + up, 0), 255);
  }
  return values;
}
