/** How does an image become the input of a model that is no detector of ours? By a declared preprocessing: colours, resize, scale, mean and deviation. */
import { makeTensor, type Tensor } from '../tensor/tensor.js';
import { DetectionError } from './detection-error.js';
import type { RgbImage } from './image.js';
import { type Plane, resizeBilinear } from './resize.js';

/** In the units of files and of most model cards: bytes 0…255, and mean and std after `range`. */
export interface Preprocessing {
  readonly colors: 'rgb' | 'bgr';
  /** What the bytes 0…255 become first. */
  readonly range: '0..1' | '0..255';
  /** Per channel in the order of `colors`: (x − mean) / std. */
  readonly mean: readonly number[];
  readonly std: readonly number[];
  /**
   * How an image comes to the model's height and width, by torch's bilinear resize without antialiasing:
   * 'none', it must have them; 'stretch', aspect not kept; 'crop', the shorter side becomes `shorterSide` and the middle is cut out;
   * 'pad', as large as fits, in the upper left corner, the rest `fill`.
   */
  readonly resize: 'none' | 'stretch' | 'crop' | 'pad';
  /** With 'crop'; the larger of the model's height and width where absent. */
  readonly shorterSide?: number;
  /** With 'pad': a byte value 0…255. */
  readonly fill: number;
}

/**
 * The model's input for one image: float32 [1, 3, height, width].
 *
 * Sizes: 'crop' keeps the aspect, shorter side exact, the longer trunc(side · ratio); it cuts from floor(rest / 2). 'pad' takes trunc(side · ratio).
 * Values stay float32 between resize and normalisation; they are not rounded to bytes.
 * @throws DetectionError `input-size` where a size cannot be reached, `image-too-narrow`.
 */
export function preprocessImage(image: RgbImage, size: Plane, preprocessing: Preprocessing): Tensor<'float32'> {
  const area = size.height * size.width;
  const data = new Float32Array(3 * area);
  const plane = new Float32Array(image.width * image.height);
  for (let channel = 0; channel < 3; channel++) {
    const byte = preprocessing.colors === 'rgb' ? channel : 2 - channel;
    for (let pixel = 0; pixel < plane.length; pixel++) plane[pixel] = image.data[3 * pixel + byte] as number;
    const fitted = fitPlane(plane, image, size, preprocessing);
    normaliseInto(data.subarray(channel * area, (channel + 1) * area), fitted, channel, preprocessing);
  }
  return makeTensor('float32', [1, 3, size.height, size.width], data);
}

function fitPlane(plane: Float32Array, from: Plane, to: Plane, { resize, shorterSide, fill }: Preprocessing): Float32Array {
  switch (resize) {
    case 'none':
      if (from.height === to.height && from.width === to.width) return plane;
      throw wrongSize(from, to, 'set `resize` to stretch, crop or pad');
    case 'stretch':
      return resizeBilinear(plane, from, to);
    case 'crop': {
      const scaled = scaleShorter(from, shorterSide ?? Math.max(to.height, to.width));
      if (scaled.height < to.height || scaled.width < to.width)
        throw wrongSize(scaled, to, `set \`shorterSide\` to at least ${Math.max(to.height, to.width)}`);
      return cutMiddle(resizeBilinear(plane, from, scaled), scaled, to);
    }
    case 'pad': {
      const ratio = Math.min(to.height / from.height, to.width / from.width);
      const scaled = { height: Math.trunc(from.height * ratio), width: Math.trunc(from.width * ratio) };
      if (scaled.height < 1 || scaled.width < 1)
        throw new DetectionError('image-too-narrow', `an image of ${from.width}×${from.height} pixels would have no pixel left in a side`, {
          help: 'crop the image, or leave it out',
        });
      const padded = new Float32Array(to.height * to.width).fill(fill);
      copyRows(resizeBilinear(plane, from, scaled), scaled.width, padded, to.width, scaled);
      return padded;
    }
  }
}

function scaleShorter(from: Plane, shorterSide: number): Plane {
  const ratio = shorterSide / Math.min(from.height, from.width);
  return from.height <= from.width
    ? { height: shorterSide, width: Math.trunc(from.width * ratio) }
    : { height: Math.trunc(from.height * ratio), width: shorterSide };
}

function cutMiddle(plane: Float32Array, from: Plane, to: Plane): Float32Array {
  const top = Math.floor((from.height - to.height) / 2);
  const left = Math.floor((from.width - to.width) / 2);
  const cut = new Float32Array(to.height * to.width);
  copyRows(plane.subarray(top * from.width + left), from.width, cut, to.width, to);
  return cut;
}

function copyRows(source: Float32Array, sourceStride: number, target: Float32Array, targetStride: number, size: Plane): void {
  for (let row = 0; row < size.height; row++)
    target.set(source.subarray(row * sourceStride, row * sourceStride + size.width), row * targetStride);
}

function normaliseInto(target: Float32Array, source: Float32Array, channel: number, { range, mean, std }: Preprocessing): void {
  const { fround } = Math;
  const [m, s] = [fround(mean[channel] ?? 0), fround(std[channel] ?? 1)];
  const divisor = range === '0..1' ? 255 : 1;
  for (let i = 0; i < target.length; i++) target[i] = fround(fround((source[i] as number) / divisor) - m) / s;
}

function wrongSize(found: Plane, wanted: Plane, help: string): DetectionError {
  return new DetectionError('input-size', `the image is ${found.width}×${found.height}, the model takes ${wanted.width}×${wanted.height}`, {
    help,
  });
}
