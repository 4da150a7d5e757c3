/** Outlines of the masks of one image, as paths of SVG. */
import { outlineOf } from '../../../detection/coco/outline-path.js';
import type { MatchedImage } from './match-results.js';
import type { ImageMasks } from './result-types.js';

export function outlineMasks({ image, objects, truth }: MatchedImage): ImageMasks {
  return {
    left: objects.map(({ left }) => outlineOf(left?.segmentation, image)),
    right: objects.map(({ right }) => outlineOf(right?.segmentation, image)),
    truth: truth.map(({ segmentation }) => outlineOf(segmentation, image)),
  };
}
