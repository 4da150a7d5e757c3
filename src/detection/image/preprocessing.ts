/** Declared preprocessing of images: channel order, resize, range, mean and standard deviation. */
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import type { RgbImage } from './decode-image.js';
import { keepResults } from './kept-results.js';
import { type InputSize, type Placement, placeImage } from './placement.js';
import type { Preprocessing } from './preprocessing-schema.js';
import { resamplePlane } from './resample.js';
import type { Sampling } from './resample-axis.js';

/** An image input of one channel takes gray. */
export type Channels = 1 | 3;

export interface PreprocessedImage {
  /** float32 [1, channels, height, width] */
  readonly tensor: Tensor<'float32'>;
  readonly placement: Placement;
}

/**
 * The model's input for one image, and the position of the image in it.
 * @throws DetectionError `input-size`, `image-too-narrow`, as `placeImage`.
 */
export function preprocessImage(image: RgbImage, size: InputSize, preprocessing: Preprocessing, channels: Channels = 3): PreprocessedImage {
  const key = JSON.stringify([size.height ?? null, size.width ?? null, channels, preprocessing]);
  return KNOWN.getOrMake(image, key, () => preprocess(image, size, preprocessing, channels));
}

/** Of the tensors of kept images, which are often larger than the images: those of 50 images for a network of 640 × 640. */
const MOST_KEPT_BYTES = 256 * 2 ** 20;

/** Cache: of an image that is kept, because several models see it. Its pixels and the tensor are not edited. */
const KNOWN = keepResults<RgbImage, PreprocessedImage>(MOST_KEPT_BYTES, ({ tensor }) => tensor.data.byteLength);

function preprocess(image: RgbImage, size: InputSize, preprocessing: Preprocessing, channels: Channels): PreprocessedImage {
  const placement = placeImage({ height: image.height, width: image.width }, size, preprocessing);
  const { height, width } = placement.input;
  const area = height * width;
  const data = new Float32Array(channels * area);
  for (let channel = 0; channel < channels; channel++) {
    const target = data.subarray(channel * area, (channel + 1) * area);
    const { fill } = preprocessing;
    target.fill(typeof fill === 'number' ? fill : (fill[channel] ?? 0));
    const plane = channels === 1 ? takeGray(image) : takePlane(image, preprocessing.colors === 'rgb' ? channel : 2 - channel);
    copyInto(resize(plane, placement, preprocessing), target, placement);
    normalize(target, channel, preprocessing);
  }
  return { tensor: makeTensor('float32', [1, channels, height, width], data), placement };
}

function takePlane({ data, width, height }: RgbImage, byte: number): Float32Array {
  const plane = new Float32Array(width * height);
  for (let pixel = 0; pixel < plane.length; pixel++) plane[pixel] = data[3 * pixel + byte] as number;
  return plane;
}

/** @see Pillow `Image.convert("L")`: ITU-R 601-2 luma in 16 fractional bits, rounded. */
function takeGray({ data, width, height }: RgbImage): Float32Array {
  const plane = new Float32Array(width * height);
  for (let pixel = 0, from = 0; pixel < plane.length; pixel++, from += 3)
    plane[pixel] =
      (19_595 * (data[from] as number) + 38_470 * (data[from + 1] as number) + 7_471 * (data[from + 2] as number) + 32_768) >> 16;
  return plane;
}

function resize(plane: Float32Array, { original, scaled }: Placement, sampling: Sampling): Float32Array {
  if (original.height === scaled.height && original.width === scaled.width) return plane;
  return resamplePlane(plane, original, scaled, sampling);
}

/** Copies the part of the resized image that is inside the input. */
function copyInto(source: Float32Array, target: Float32Array, { scaled, input, left, top }: Placement): void {
  const [skipX, skipY] = [Math.max(-left, 0), Math.max(-top, 0)];
  const [toX, toY] = [Math.max(left, 0), Math.max(top, 0)];
  const columns = Math.min(scaled.width - skipX, input.width - toX);
  const rows = Math.min(scaled.height - skipY, input.height - toY);
  for (let row = 0; row < rows; row++) {
    const from = (skipY + row) * scaled.width + skipX;
    target.set(source.subarray(from, from + columns), (toY + row) * input.width + toX);
  }
}

function normalize(values: Float32Array, channel: number, { range, mean, std }: Preprocessing): void {
  const { fround } = Math;
  const [m, s] = [fround(mean[channel] ?? 0), fround(std[channel] ?? 1)];
  const divisor = range === '0..255' ? 1 : 255;
  for (let i = 0; i < values.length; i++) values[i] = fround(fround((values[i] as number) / divisor) - m) / s;
}
