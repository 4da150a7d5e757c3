/** What does each RoI see? A fixed grid of features out of the pyramid level that fits its size, as the input of a head. */
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { type Boxes, countBoxes, gatherBoxes } from '../boxes.js';
import { getPartValue, type PartValuesByName } from '../part-runner.js';
import type { FeatureMap, RoiAlignOptions } from '../roi-align.js';
import { assignLevels } from '../roi-pyramid.js';
import type { MaskRcnnRecipe, RoiHead } from './recipe.js';

/** RoIAlign of all boxes on one map: float32 [boxes, channels, size, size]. */
export type PoolRois = (map: FeatureMap, boxes: Boxes, options: RoiAlignOptions) => Promise<Float32Array>;

export interface PoolingJob {
  readonly recipe: MaskRcnnRecipe;
  readonly pool: PoolRois;
}

/** The head's input [n, channels, size, size] for `boxes` (in the resized image), row i for box i, from the backbone's outputs. */
export async function poolFeatures(
  values: PartValuesByName,
  boxes: Boxes,
  head: RoiHead,
  { recipe, pool }: PoolingJob,
): Promise<Tensor<'float32'>> {
  const levels = recipe.levels.filter(level => level.feature !== 'none');
  const levelOf = assignLevels(boxes, recipe.roi, Math.log2(levels[0]?.stride ?? 1), levels.length);
  const rowSize = head.channels * head.size * head.size;
  const pooled = new Float32Array(countBoxes(boxes) * rowSize);
  for (const [index, { feature, height, width, stride }] of levels.entries()) {
    const members = [...levelOf.keys()].filter(box => levelOf[box] === index);
    if (members.length === 0) continue;
    const data = getPartValue(values, feature, [1, head.channels, height, width]);
    const rows = await pool({ data, channels: head.channels, height, width, scale: 1 / stride }, gatherBoxes(boxes, members), head);
    for (const [row, box] of members.entries()) pooled.set(rows.subarray(row * rowSize, (row + 1) * rowSize), box * rowSize);
  }
  return makeTensor('float32', [countBoxes(boxes), head.channels, head.size, head.size], pooled);
}
