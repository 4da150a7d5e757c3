/** How is one plane of an image resized by a declared filter? As the library that a model was trained with does: torch, Pillow or OpenCV. */

import { type AxisTaps, type Sampling, tapsOfAxis } from './resample-axis.js';
import { type Plane, resizeBilinear } from './resize.js';

/**
 * `source` (`from.height` × `from.width`, row-major) resized to `to`; a new array.
 *
 * | sampling | is |
 * |---|---|
 * | linear, no antialias, no rounding | torch `interpolate(mode="bilinear")` |
 * | linear or cubic, antialias, bytes | Pillow `BILINEAR`, `BICUBIC`: rounds after each axis |
 * | linear, cubic or area, no antialias, bytes | OpenCV `INTER_LINEAR`, `INTER_CUBIC`, `INTER_AREA`: rounds once |
 *
 * With rounding the sources must be whole 0…255. Without it, antialiased and cubic forms are torch's on floats, here in double precision.
 */
export function resamplePlane(source: Float32Array, from: Plane, to: Plane, sampling: Sampling): Float32Array {
  const { filter, antialias, rounding } = sampling;
  if (filter === 'linear' && !antialias && rounding === 'none') return resizeBilinear(source, from, to);
  const area = from.width >= to.width && from.height >= to.height ? 'average' : 'linear';
  const pillow = rounding === 'bytes' && antialias && filter !== 'area';
  const across = alongRows(source, from, tapsOfAxis(from.width, to.width, sampling, area));
  if (pillow) roundToBytes(across);
  const resized = alongColumns(across, to.width, tapsOfAxis(from.height, to.height, sampling, area));
  if (rounding === 'bytes') (filter === 'area' ? roundEvenToBytes : roundToBytes)(resized);
  return Float32Array.from(resized);
}

function alongRows(source: Float32Array, { height, width }: Plane, { taps, first, weights }: AxisTaps): Float64Array {
  const to = first.length;
  const target = new Float64Array(height * to);
  for (let x = 0; x < to; x++) {
    const start = first[x] as number;
    const own = x * taps;
    for (let row = 0; row < height; row++) {
      const at = row * width + start;
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

/** Halves up, as fixed-point arithmetic rounds. */
function roundToBytes(values: Float64Array): void {
  for (let i = 0; i < values.length; i++) values[i] = Math.min(Math.max(Math.floor((values[i] as number) + 0.5), 0), 255);
}

/** Halves to even, as OpenCV rounds floats. */
function roundEvenToBytes(values: Float64Array): void {
  for (let i = 0; i < values.length; i++) {
    const value = Math.fround(values[i] as number);
    const below = Math.floor(value);
    const up = value - below > 0.5 || (value - below === 0.5 && below % 2 === 1) ? 1 : 0;
    values[i] = Math.min(Math.max(below + up, 0), 255);
  }
}
