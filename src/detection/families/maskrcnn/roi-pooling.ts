/** Pools the input of a head: a fixed grid of features per RoI, from the pyramid level that fits its size. */
import { invariant } from '../../../base/invariant.js';
import { makeTensor, type Tensor } from '../../../tensor/tensor.js';
import { getPartValue, type PartValuesByName } from '../../detector/part-runner.js';
import { type Boxes, countBoxes } from '../../geometry/boxes.js';
import { poolFromPyramid } from '../../geometry/roi-pyramid.js';
import type { ImageSize } from '../../image/image-size.js';
import { sizeOfLevel } from './make-recipe.js';
import type { MaskRcnnRecipe, RoiHead } from './recipe.js';

/** The head's input [n, channels, size, size] for `boxes` (in the resized image), row i for box i. `values` are the backbone's outputs for an input of size `input`. */
export function poolFeatures(
  values: PartValuesByName,
  boxes: Boxes,
  head: RoiHead,
  { levels, roi }: Pick<MaskRcnnRecipe, 'levels' | 'roi'>,
  input: ImageSize,
): Tensor<'float32'> {
  const { channels, size, samplingRatio } = head;
  const [first, ...others] = levels
    .filter(level => level.feature !== 'none')
    .map(level => {
      const { feature, stride } = level;
      const { height, width } = sizeOfLevel(level, input);
      const data = getPartValue(values, feature, [1, channels, height, width]);
      return { data, channels, height, width, scale: 1 / stride };
    });
  invariant(first !== undefined, 'a pyramid has levels with features');
  const pooled = poolFromPyramid([first, ...others], boxes, { size, samplingRatio, ...roi });
  return makeTensor('float32', [countBoxes(boxes), channels, size, size], pooled);
}
