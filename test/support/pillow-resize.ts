/** How does Pillow resize bytes with its BILINEAR filter? A triangle over the source area, in fixed point, across and then down, rounding to bytes after each. */
import type { RgbImage } from '../../src/detection/image.js';

/** Fractional bits of a weight. @see Pillow, src/libImaging/Resample.c: 8-bit channels. */
const BITS = 22;
const CHANNELS = 3;

interface Taps {
  readonly first: number;
  readonly weights: readonly number[];
}

export function resizeLikePillow(image: RgbImage, width: number, height: number): RgbImage {
  const across = resizeRows(image.data, { count: image.height, length: image.width, step: CHANNELS, to: width });
  const turned = resizeRows(across, { count: 1, length: image.height, step: width * CHANNELS, to: height });
  return { width, height, data: turned };
}

interface Rows {
  readonly count: number;
  /** Samples of a row, each of `step` neighbouring bytes that are resized alike. */
  readonly length: number;
  readonly step: number;
  readonly to: number;
}

function resizeRows(source: Uint8Array, { count, length, step, to }: Rows): Uint8Array {
  const target = new Uint8Array(count * to * step);
  const taps = tapsOf(length, to);
  for (let row = 0; row < count; row++) {
    for (let x = 0; x < to; x++) {
      const { first, weights } = taps[x] as Taps;
      for (let i = 0; i < step; i++) {
        let sum = 2 ** (BITS - 1);
        for (let k = 0; k < weights.length; k++) sum += (weights[k] as number) * (source[(row * length + first + k) * step + i] as number);
        target[(row * to + x) * step + i] = toByte(sum);
      }
    }
  }
  return target;
}

function toByte(sum: number): number {
  return Math.min(Math.max(Math.floor(sum / 2 ** BITS), 0), 255);
}

function tapsOf(from: number, to: number): readonly Taps[] {
  const scale = from / to;
  const support = Math.max(scale, 1);
  return Array.from({ length: to }, (_, i) => {
    const center = (i + 0.5) * scale;
    const first = Math.max(Math.trunc(center - support + 0.5), 0);
    const end = Math.min(Math.trunc(center + support + 0.5), from);
    const weights = Array.from({ length: end - first }, (_unused, k) => Math.max(1 - Math.abs((first + k - center + 0.5) / support), 0));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return { first, weights: weights.map(weight => Math.trunc(0.5 + (weight / total) * 2 ** BITS)) };
  });
}
