/** Fits an image to the input of a network: normalizes, resizes, and pads with zeros on the right and at the bottom. */
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { DetectionError } from '../error/detection-error.js';
import type { RgbImage } from './decode-image.js';
import type { ImageSize } from './image-size.js';
import { type ReadRow, resizeBilinearInto } from './resize.js';

/** Rule for the size of the resized image and of the tensor. */
export type Fit =
  /** Scaled to fit the fixed input of the network, then padded to it. */
  | { readonly kind: 'static'; readonly height: number; readonly width: number }
  /**
   * torchvision's rule: the shorter side becomes `minSize`, unless the longer one would exceed `maxSize`. Padded to multiples of `sizeDivisible`, and
   * further to `atLeast`, as torchvision pads the smaller images of a batch.
   */
  | {
      readonly kind: 'torchvision';
      readonly minSize: number;
      readonly maxSize: number;
      readonly sizeDivisible: number;
      readonly atLeast?: ImageSize;
    };

/** Per channel, R G B, of values in 0…1. */
export interface Normalization {
  readonly mean: readonly number[];
  readonly std: readonly number[];
}

export interface FittedSizes {
  readonly original: ImageSize;
  /** Size of the image inside the tensor, at its upper left corner. Proposals and boxes are clipped to it. */
  readonly resized: ImageSize;
  /** Size of the tensor. */
  readonly padded: ImageSize;
  /** Area that anchors cover, from the upper left corner: the tensor, or the size to which torchvision pads this image alone. */
  readonly covered: ImageSize;
}

export interface FittedImage extends FittedSizes {
  /** float32 [1, 3, padded.height, padded.width]; padding is zero, which is the mean color. */
  readonly tensor: Tensor<'float32'>;
}

/**
 * The sizes of an image under a fit policy: new size = trunc(old · scale), in double precision.
 * @throws DetectionError `image-too-narrow` where a side would have less than one pixel.
 */
export function fitSizes(original: ImageSize, fit: Fit): FittedSizes {
  const scale = scaleOf(original, fit);
  const resized = { height: Math.trunc(original.height * scale), width: Math.trunc(original.width * scale) };
  if (resized.height < 1 || resized.width < 1)
    throw new DetectionError(
      'image-too-narrow',
      `an image of ${original.width}×${original.height} pixels would be resized to ${resized.width}×${resized.height}`,
      { help: 'crop or remove the image' },
    );
  return { original, resized, ...padTo(resized, fit) };
}

/**
 * Fits an image to the network, in this order: byte / 255, (x − mean) / std per channel in float32, bilinear resize, zero padding.
 * @throws DetectionError `image-too-narrow` where a side would have less than one pixel.
 * @see torchvision `GeneralizedRCNNTransform`: with `kind: 'torchvision'` this is its result on one image.
 */
export function fitImage(image: RgbImage, fit: Fit, normalization: Normalization): FittedImage {
  const original = { height: image.height, width: image.width };
  const sizes = fitSizes(original, fit);
  const { resized, padded } = sizes;
  const area = padded.height * padded.width;
  const data = new Float32Array(3 * area);
  for (let channel = 0; channel < 3; channel++) {
    const readRow = rowsOf(image, channel, valuesOfBytes(normalization, channel));
    resizeBilinearInto(readRow, original, data, { ...resized, rowStride: padded.width, offset: channel * area });
  }
  return { ...sizes, tensor: makeTensor('float32', [1, 3, padded.height, padded.width], data) };
}

/**
 * Maps boxes (x1 y1 x2 y2) of the resized image to the original image: x · (w / nw), y · (h / nh), where each ratio is one float32 division. Boxes are
 * not clipped.
 */
export function mapBoxesBack(boxes: Float32Array, sizes: FittedSizes): Float32Array {
  const x = Math.fround(sizes.original.width / sizes.resized.width);
  const y = Math.fround(sizes.original.height / sizes.resized.height);
  return boxes.map((value, index) => value * (index % 2 === 0 ? x : y));
}

function scaleOf({ height, width }: ImageSize, fit: Fit): number {
  return fit.kind === 'static'
    ? Math.min(fit.height / height, fit.width / width)
    : Math.min(fit.minSize / Math.min(height, width), fit.maxSize / Math.max(height, width));
}

function padTo(resized: ImageSize, fit: Fit): Pick<FittedSizes, 'padded' | 'covered'> {
  if (fit.kind === 'static') {
    const whole = { height: fit.height, width: fit.width };
    return { padded: whole, covered: whole };
  }
  const { sizeDivisible, atLeast = { height: 0, width: 0 } } = fit;
  const up = (side: number) => Math.ceil(side / sizeDivisible) * sizeDivisible;
  const own = { height: up(resized.height), width: up(resized.width) };
  return { padded: { height: Math.max(own.height, atLeast.height), width: Math.max(own.width, atLeast.width) }, covered: own };
}

/** Lookup table: the normalized value of each byte in a channel. Every operation is rounded to float32. */
function valuesOfBytes({ mean, std }: Normalization, channel: number): Float32Array {
  const [m, s] = [Math.fround(mean[channel] ?? 0), Math.fround(std[channel] ?? 1)];
  return Float32Array.from({ length: 256 }, (_, byte) => Math.fround(Math.fround(byte / 255) - m) / s);
}

function rowsOf({ data, width }: RgbImage, channel: number, values: Float32Array): ReadRow {
  return (row, y) => {
    for (let x = 0, from = 3 * y * width + channel; x < width; x++, from += 3) row[x] = values[data[from] as number] as number;
  };
}
