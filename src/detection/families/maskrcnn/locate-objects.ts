/** The steps of Mask R-CNN's host for one image, as in torchvision's MaskRCNN at test time. */

import type { Tensor } from '../../../tensor/tensor.js';
import { sigmoid } from '../../detector/activations.js';
import type { DetectedObjects, SquareMasks } from '../../detector/detector.js';
import type { DetectorPart } from '../../detector/detector-part.js';
import type { Measure } from '../../detector/measure.js';
import { getPartValue, type PartValuesByName, type RunPart } from '../../detector/part-runner.js';
import { runPart } from '../../detector/run-part.js';
import { type FittedImage, mapBoxesBack } from '../../image/fit-image.js';
import type { ImageSize } from '../../image/image-size.js';
import { type BoxDetections, selectDetections } from './box-detections.js';
import { listMaskRcnnParts } from './list-parts.js';
import type { MaskRcnnPart } from './part-names.js';
import { findProposals, type Proposals } from './proposals.js';
import { poolFeatures } from './roi-pooling.js';
import type { MaskRcnnSettings } from './settings.js';

export interface MaskRcnn extends MaskRcnnSettings {
  /** Runs a part without batching. */
  readonly run: RunPart;
  readonly measure: Measure;
}

/** Results of the first two parts for an image, and the inputs of the third. */
export interface LocatedObjects {
  readonly backbone: PartValuesByName;
  readonly proposals: Proposals;
  /** [proposals, C, size, size] */
  readonly boxFeatures: Tensor<'float32'>;
  readonly boxHead: PartValuesByName;
  readonly detections: BoxDetections;
  /** [detections, C, size, size] */
  readonly maskFeatures: Tensor<'float32'>;
}

/** Computes the boxes of a prepared image, and the input of the mask head. */
export async function locateObjects(detector: MaskRcnn, image: FittedImage): Promise<LocatedObjects> {
  const { recipe, config, measure } = detector;
  const backbone = await runNetwork(detector, 'backbone', image.tensor);
  const proposals = measure('proposals', () => findProposals(backbone, image, recipe, config));
  const boxFeatures = measure('roi-align', () => poolFeatures(backbone, proposals.boxes, recipe.boxHead, recipe, image.padded));
  const boxHead = await runNetwork(detector, 'box_head', boxFeatures);
  const detections = measure('detections', () => readDetections(detector, boxHead, proposals.boxes, image.resized));
  const maskFeatures = measure('roi-align', () => poolFeatures(backbone, detections.boxes, recipe.maskHead, recipe, image.padded));
  return { backbone, proposals, boxFeatures, boxHead, detections, maskFeatures };
}

/** Runs a part on its single input, RoIs in batches of the recipe's size. */
export function runNetwork(detector: MaskRcnn, name: MaskRcnnPart, input: Tensor<'float32'>): Promise<PartValuesByName> {
  const part = getPart(detector, name);
  return detector.measure(name, () => runPart(detector.run, part, { [part.values.inputs[0] ?? '']: input }));
}

function getPart({ recipe }: MaskRcnn, name: MaskRcnnPart): DetectorPart {
  const [backbone, boxHead, maskHead] = listMaskRcnnParts(recipe);
  return { backbone, box_head: boxHead, mask_head: maskHead }[name];
}

/** The detections of the box head's outputs for the RoIs `rois`. */
export function readDetections(
  { recipe, config }: Pick<MaskRcnnSettings, 'recipe' | 'config'>,
  boxHead: PartValuesByName,
  rois: Float32Array,
  resized: ImageSize,
): BoxDetections {
  const [count, classes] = [rois.length / 4, config.numClasses];
  const classLogits = getPartValue(boxHead, recipe.boxHead.classLogits, [count, classes]);
  const boxRegression = getPartValue(boxHead, recipe.boxHead.boxRegression, [count, 4 * classes]);
  return selectDetections({ rois, classLogits, boxRegression, classes }, resized, config.box);
}

/** Mask probabilities of each detection's class. */
export function readMasks(
  { recipe, config }: Pick<MaskRcnnSettings, 'recipe' | 'config'>,
  maskHead: PartValuesByName,
  labels: Int32Array,
): SquareMasks {
  const side = 2 * recipe.maskHead.size;
  const area = side * side;
  const logits = getPartValue(maskHead, recipe.maskHead.maskLogits, [labels.length, config.numClasses, side, side]);
  const data = new Float32Array(labels.length * area);
  for (const [index, label] of labels.entries()) {
    const start = (index * config.numClasses + label) * area;
    data.set(sigmoid(logits.subarray(start, start + area)), index * area);
  }
  return { kind: 'squares', side, data, threshold: config.mask.threshold };
}

/** The located objects with their masks, in the original image. */
export function readObjects(
  detector: Pick<MaskRcnn, 'recipe' | 'config' | 'measure'>,
  image: FittedImage,
  { detections }: Pick<LocatedObjects, 'detections'>,
  maskHead: PartValuesByName,
): DetectedObjects {
  return {
    size: image.original,
    boxes: mapBoxesBack(detections.boxes, image),
    scores: detections.scores,
    labels: detections.labels,
    masks: detector.measure('masks', () => readMasks(detector, maskHead, detections.labels)),
  };
}
