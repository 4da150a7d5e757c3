/** Prepares an image for YOLACT: bilinear resize to a square without keeping the aspect ratio, then mean and standard deviation in 0…255. */
import type { Tensor } from '../../../tensor/tensor.js';
import type { RgbImage } from '../../image/decode-image.js';
import { preprocessImage } from '../../image/preprocessing.js';
import type { Preprocessing } from '../../image/preprocessing-schema.js';
import type { YolactConfig } from './config.js';
import type { YolactImage } from './recipe.js';

/**
 * float32 [1, 3, height, width], R G B.
 * @see dbolya/yolact FastBaseTransform with preserve_aspect_ratio off: torch's interpolate without antialiasing, values not rounded.
 */
export function prepareImage(image: RgbImage, { height, width }: YolactImage, { input }: YolactConfig): Tensor<'float32'> {
  return preprocessImage(image, { height, width }, { ...STRETCHED, ...input }).tensor;
}

const STRETCHED: Omit<Preprocessing, 'mean' | 'std'> = {
  colors: 'rgb',
  range: '0..255',
  resize: 'stretch',
  sizes: 'down',
  place: 'corner',
  fill: 0,
  filter: 'linear',
  antialias: false,
  rounding: 'none',
};
