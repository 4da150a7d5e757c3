/** Prior boxes: one per cell, scale and aspect ratio, as center x and y, width and height relative to the image. */
import type { ImageSize } from '../../image/image-size.js';
import type { PriorConfig } from './config.js';

/**
 * The priors of one level, each `x y w h`: cells row by row, per cell the scales, per scale the aspect ratios. Computed in double precision and rounded
 * to float32.
 *
 * @param side side of the network's input in pixels, by which pixel scales are divided.
 * @see dbolya/yolact PredictionModule.make_priors.
 */
export function makePriors(size: ImageSize, level: number, config: PriorConfig, side: number): Float32Array {
  const shapes = (config.scales[level] ?? []).flatMap(scale => config.aspectRatios.map(ratio => shapeOf(scale, ratio, size, config, side)));
  const priors = new Float32Array(size.height * size.width * shapes.length * 4);
  let at = 0;
  for (let row = 0; row < size.height; row++)
    for (let column = 0; column < size.width; column++)
      for (const [width, height] of shapes) {
        priors[at] = (column + 0.5) / size.width;
        priors[at + 1] = (row + 0.5) / size.height;
        priors[at + 2] = width;
        priors[at + 3] = height;
        at += 4;
      }
  return priors;
}

function shapeOf(scale: number, ratio: number, size: ImageSize, config: PriorConfig, side: number): readonly [number, number] {
  const stretch = config.preapplySqrt ? ratio : Math.sqrt(ratio);
  const width = (scale * stretch) / (config.usePixelScales ? side : size.width);
  if (config.useSquareAnchors) return [width, width];
  return [width, scale / stretch / (config.usePixelScales ? side : size.height)];
}
