/** Which boxes does the network start from? One per cell, scale and aspect ratio, relative to the image: centre x and y, width, height. */
import type { PriorConfig } from './config.js';

export interface LevelSize {
  readonly height: number;
  readonly width: number;
}

/**
 * The priors of one level, `x y w h` each: cells row by row, in each the scales, for each scale the aspect ratios. Computed in double precision,
 * rounded to float32.
 *
 * @param side of the network's input, in pixels: what pixel scales are divided by.
 * @see dbolya/yolact PredictionModule.make_priors.
 */
export function makePriors(size: LevelSize, level: number, config: PriorConfig, side: number): Float32Array {
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

function shapeOf(scale: number, ratio: number, size: LevelSize, config: PriorConfig, side: number): readonly [number, number] {
  const stretch = config.preapplySqrt ? ratio : Math.sqrt(ratio);
  const width = (scale * stretch) / (config.usePixelScales ? side : size.width);
  if (config.useSquareAnchors) return [width, width];
  return [width, scale / stretch / (config.usePixelScales ? side : size.height)];
}
