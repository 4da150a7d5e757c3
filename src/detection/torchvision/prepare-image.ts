/** How does an image become the input of a Mask R-CNN's backbone? Fitted by the policy; the result must have the model's size. */
import { sameShape } from '../../tensor/shape.js';
import { DetectionError } from '../detection-error.js';
import type { RgbImage } from '../image.js';
import { type Fit, type FittedImage, fitImage } from '../transform.js';
import type { MaskRcnnSetup } from './setup.js';

/** @throws DetectionError `input-size` where the image, fitted, has another size than the model. */
export function prepareImage({ recipe, config, fit }: Omit<MaskRcnnSetup, 'architecture'>, image: RgbImage): FittedImage {
  const { height, width } = recipe.image;
  const { minSize, maxSize, sizeDivisible } = config.input;
  const policy: Fit = fit === 'static' ? { kind: 'static', height, width } : { kind: 'torchvision', minSize, maxSize, sizeDivisible };
  const fitted = fitImage(image, policy, config.input);
  if (!sameShape(fitted.tensor.dims, [1, 3, height, width])) {
    const { padded } = fitted;
    throw new DetectionError(
      'input-size',
      `an image of ${image.width}×${image.height} becomes ${padded.width}×${padded.height}; the model takes ${width}×${height}`,
      {
        help: `export the model with input [1, 3, ${padded.height}, ${padded.width}], or use the fit policy "static"`,
      },
    );
  }
  return fitted;
}
