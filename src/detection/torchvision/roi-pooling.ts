/** What does each RoI see? A fixed grid of features out of the pyramid level that fits its size, as the input of a head. */
import { getDefined } from '../../base/invariant.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { type Boxes, countBoxes } from '../boxes.js';
import type { MaskRcnnRecipe, RoiHead } from '../recipe.js';
import { poolFromPyramid } from '../roi-pyramid.js';
import { getPartValue, type PartValuesByName } from './part-runner.js';

/** The head's input [n, channels, size, size] for `boxes` (in the resized image), row i for box i, from the backbone's outputs. */
export function poolFeatures(values: PartValuesByName, boxes: Boxes, recipe: MaskRcnnRecipe, head: RoiHead): Tensor<'float32'> {
  const [first, ...others] = recipe.levels
    .filter(level => level.feature !== 'none')
    .map(({ feature, height, width, stride }) => {
      const data = getPartValue(values, feature, [1, head.channels, height, width]);
      return { data, channels: head.channels, height, width, scale: 1 / stride };
    });
  const maps = [getDefined(first, 'the finest level of the pyramid'), ...others] as const;
  const pooled = poolFromPyramid(maps, boxes, { size: head.size, samplingRatio: head.samplingRatio, ...recipe.roi });
  return makeTensor('float32', [countBoxes(boxes), head.channels, head.size, head.size], pooled);
}
