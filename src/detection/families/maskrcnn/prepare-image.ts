/** Prepares an image for the backbone of a Mask R-CNN: fits it by the fit policy, and pads it to the input size. */
import { DetectionError } from '../../error/detection-error.js';
import type { RgbImage } from '../../image/decode-image.js';
import { type FittedImage, fitImage, fitSizes } from '../../image/fit-image.js';
import type { MaskRcnnRecipe } from './recipe.js';
import type { MaskRcnnSettings } from './settings.js';

/** The settings that preparation depends on. */
type ImageSettings = Pick<MaskRcnnSettings, 'config' | 'fit'> & { readonly recipe: Pick<MaskRcnnRecipe, 'image'> };

/** @throws DetectionError `input-size` where the fitted image is larger than the model's input; `image-too-narrow`. */
export function prepareImage({ recipe, config, fit }: ImageSettings, image: RgbImage): FittedImage {
  const { height, width, size } = recipe.image;
  if (fit === 'static') return fitImage(image, { kind: 'static', height, width }, config.input);
  const { minSize, maxSize, sizeDivisible } = config.input;
  const own = { kind: 'torchvision', minSize, maxSize, sizeDivisible } as const;
  if (size === 'free') return fitImage(image, own, config.input);
  const { padded } = fitSizes({ height: image.height, width: image.width }, own);
  if (padded.height > height || padded.width > width) {
    const needed = [Math.max(padded.height, height), Math.max(padded.width, width)].join(', ');
    throw new DetectionError(
      'input-size',
      `an image of ${image.width}×${image.height} is fitted to ${padded.width}×${padded.height}, but the model takes ${width}×${height}`,
      { help: `export the model with input [1, 3, ${needed}], or use the fit policy "static"` },
    );
  }
  return fitImage(image, { ...own, atLeast: { height, width } }, config.input);
}
