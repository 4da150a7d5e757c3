/** What does each part of a detector see of an image? Its calibration data: one image tensor, and ragged batches of pooled RoIs. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Tensor } from '../../tensor/tensor.js';
import { decodeImage } from '../image.js';
import type { MaskRcnnPart } from '../recipe.js';
import { type Detector, locateObjects, prepareImage } from './detector.js';
import { keepRows } from './part-tensors.js';

/** Each part's input for one image. A head's first axis may be 0: nothing was found. */
export type PartInputs = Readonly<Record<MaskRcnnPart, Tensor<'float32'>>>;

export interface RoiLimits {
  /** The first proposals, in falling order of objectness. */
  readonly box: number;
  /** The first detections, in falling order of score. */
  readonly mask: number;
}

/** The inputs of all parts for one image file, the RoIs found by the detector itself. @throws DetectionError as `decodeImage`, `prepareImage` and `traceImage`. */
export async function collectPartInputs(detector: Detector, imagePath: string, limits: RoiLimits): Promise<PartInputs> {
  const image = prepareImage(detector, await decodeImage(await readFile(imagePath), basename(imagePath)));
  const backbone = await detector.run('backbone', image.tensor);
  const { boxFeatures, maskFeatures } = await locateObjects(detector, backbone, image.resized);
  return {
    backbone: image.tensor,
    box_head: keepRows(boxFeatures, { max: limits.box, keep: 'first' }),
    mask_head: keepRows(maskFeatures, { max: limits.mask, keep: 'first' }),
  };
}
