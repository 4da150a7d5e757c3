/** The three parts of a Mask R-CNN, with the inputs and outputs of its host recipe. */
import type { DetectorPart } from '../../detector/detector-part.js';
import type { MaskRcnnRecipe } from './recipe.js';

/** In the order in which they run. */
export function listMaskRcnnParts({
  image,
  parts,
  boxHead,
  maskHead,
  config,
}: MaskRcnnRecipe): readonly [DetectorPart, DetectorPart, DetectorPart] {
  const { numClasses } = config;
  const side = 2 * maskHead.size;
  return [
    { name: 'backbone', values: parts.backbone, rois: 'none', inputs: { [image.value]: [1, 3, image.height, image.width] } },
    {
      name: 'box_head',
      values: parts.box_head,
      rois: boxHead.batch,
      inputs: { [boxHead.input]: [boxHead.channels, boxHead.size, boxHead.size] },
      outputs: { [boxHead.classLogits]: [numClasses], [boxHead.boxRegression]: [4 * numClasses] },
    },
    {
      name: 'mask_head',
      values: parts.mask_head,
      rois: maskHead.batch,
      inputs: { [maskHead.input]: [maskHead.channels, maskHead.size, maskHead.size] },
      outputs: { [maskHead.maskLogits]: [numClasses, side, side] },
    },
  ];
}
