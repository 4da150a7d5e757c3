/** How do three networks and the host make a detector? As torchvision's MaskRCNN at test time, one image at a time, every intermediate result in hand. */
import { formatShape, sameShape } from '../../tensor/shape.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { sigmoid } from '../activations.js';
import type { Boxes } from '../boxes.js';
import { DetectionError } from '../detection-error.js';
import type { RgbImage } from '../image.js';
import type { FitPolicy, MaskRcnnPart, MaskRcnnRecipe, RoiHead } from '../recipe.js';
import { type Fit, type FittedImage, fitImage, type ImageSize, mapBoxesBack } from '../transform.js';
import { type BoxDetections, selectDetections } from './box-detections.js';
import type { DetectorConfig } from './config.js';
import { getPartValue, type PartValuesByName, type RunPart } from './part-runner.js';
import { findProposals, type Proposals } from './proposals.js';
import { type PoolRois, poolFeatures } from './roi-pooling.js';

export interface Detector {
  readonly recipe: MaskRcnnRecipe;
  /** Thresholds, counts, mean and std are these, not the recipe's copy. */
  readonly config: DetectorConfig;
  readonly fit: FitPolicy;
  readonly run: RunPart;
  readonly pool: PoolRois;
}

/** What the first two parts find in an image. */
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

/** Everything between the parts of a detector for one image: outputs as the parts give them, before permute, reshape, softmax and sigmoid. */
export interface ImageTrace extends LocatedObjects {
  readonly image: FittedImage;
  readonly maskHead: PartValuesByName;
}

/** Objects found in one image, the best first. */
export interface DetectedObjects {
  readonly size: ImageSize;
  /** In the original image; not clipped. */
  readonly boxes: Boxes;
  readonly scores: Float32Array;
  readonly labels: Int32Array;
  readonly masks: MaskProbabilities;
}

/** Per object a square of probabilities over its box. */
export interface MaskProbabilities {
  readonly side: number;
  /** [objects, side, side] */
  readonly data: Float32Array;
}

/** Finds the objects in an image. @throws DetectionError `input-size`, `part-values`; RuntimeError `model-run`. */
export async function detectObjects(detector: Detector, image: RgbImage): Promise<DetectedObjects> {
  return readObjects(detector, await traceImage(detector, prepareImage(detector, image)));
}

/** The input tensor of the detector's backbone. @throws DetectionError `input-size` where the image, fitted, has another size than the model. */
export function prepareImage({ recipe, config, fit }: Pick<Detector, 'recipe' | 'config' | 'fit'>, image: RgbImage): FittedImage {
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

/** Runs all three parts on a prepared image. */
export async function traceImage(detector: Detector, image: FittedImage): Promise<ImageTrace> {
  const backbone = await detector.run('backbone', image.tensor);
  const located = await locateObjects(detector, backbone, image.resized);
  const maskHead = await runRoiHead(detector, 'mask_head', located.maskFeatures);
  return { image, ...located, maskHead };
}

/** From the backbone's outputs to boxes, and to what the mask head will see. `resized`: the image inside the padded input. */
export async function locateObjects(detector: Detector, backbone: PartValuesByName, resized: ImageSize): Promise<LocatedObjects> {
  const { recipe, config } = detector;
  const proposals = findProposals(backbone, resized, recipe, config);
  const boxFeatures = await poolFeatures(backbone, proposals.boxes, recipe.boxHead, detector);
  const boxHead = await runRoiHead(detector, 'box_head', boxFeatures);
  const detections = readDetections(detector, boxHead, proposals.boxes, resized);
  const maskFeatures = await poolFeatures(backbone, detections.boxes, recipe.maskHead, detector);
  return { backbone, proposals, boxFeatures, boxHead, detections, maskFeatures };
}

/** The detections that the box head's outputs mean for RoIs `rois`. */
export function readDetections(
  { recipe, config }: Pick<Detector, 'recipe' | 'config'>,
  boxHead: PartValuesByName,
  rois: Float32Array,
  resized: ImageSize,
): BoxDetections {
  const [count, classes] = [rois.length / 4, config.numClasses];
  const classLogits = getPartValue(boxHead, recipe.boxHead.classLogits, [count, classes]);
  const boxRegression = getPartValue(boxHead, recipe.boxHead.boxRegression, [count, 4 * classes]);
  return selectDetections({ rois, classLogits, boxRegression, classes }, resized, config.box);
}

/** Of each detection's logits those of its class, as probabilities. */
export function readMasks(
  { recipe, config }: Pick<Detector, 'recipe' | 'config'>,
  maskHead: PartValuesByName,
  labels: Int32Array,
): MaskProbabilities {
  const side = 2 * recipe.maskHead.size;
  const area = side * side;
  const logits = getPartValue(maskHead, recipe.maskHead.maskLogits, [labels.length, config.numClasses, side, side]);
  const data = new Float32Array(labels.length * area);
  for (const [index, label] of labels.entries()) {
    const start = (index * config.numClasses + label) * area;
    data.set(sigmoid(logits.subarray(start, start + area)), index * area);
  }
  return { side, data };
}

/** The objects of a trace, in the original image. */
export function readObjects(detector: Detector, { image, detections, maskHead }: ImageTrace): DetectedObjects {
  return {
    size: image.original,
    boxes: mapBoxesBack(detections.boxes, image),
    scores: detections.scores,
    labels: detections.labels,
    masks: readMasks(detector, maskHead, detections.labels),
  };
}

/**
 * Runs a head on any number of RoIs, none included: where its batch is fixed, in batches of which the last is padded with zeros and cut.
 * A value's first axis counts RoIs.
 */
export async function runRoiHead(
  { recipe, config, run }: Pick<Detector, 'recipe' | 'config' | 'run'>,
  part: Exclude<MaskRcnnPart, 'backbone'>,
  features: Tensor<'float32'>,
): Promise<PartValuesByName> {
  const head = part === 'box_head' ? recipe.boxHead : recipe.maskHead;
  const count = features.dims[0] ?? 0;
  if (count === 0) return makeEmptyValues(recipe, config, part);
  if (head.batch === 'free') return run(part, features);
  const batches: PartValuesByName[] = [];
  for (let start = 0; start < count; start += head.batch) batches.push(await run(part, takeBatch(features, start, head, head.batch)));
  return Object.fromEntries(recipe.parts[part].outputs.map(name => [name, joinBatches(name, batches, count)]));
}

function makeEmptyValues(recipe: MaskRcnnRecipe, config: DetectorConfig, part: Exclude<MaskRcnnPart, 'backbone'>): PartValuesByName {
  const empty = (dims: readonly number[]): Tensor<'float32'> => makeTensor('float32', dims, new Float32Array(0));
  const { boxHead, maskHead } = recipe;
  const side = 2 * maskHead.size;
  return part === 'box_head'
    ? { [boxHead.classLogits]: empty([0, config.numClasses]), [boxHead.boxRegression]: empty([0, 4 * config.numClasses]) }
    : { [maskHead.maskLogits]: empty([0, config.numClasses, side, side]) };
}

function takeBatch(features: Tensor<'float32'>, start: number, head: RoiHead, batch: number): Tensor<'float32'> {
  const rowSize = head.channels * head.size * head.size;
  const data = new Float32Array(batch * rowSize);
  data.set(features.data.subarray(start * rowSize, (start + batch) * rowSize));
  return makeTensor('float32', [batch, head.channels, head.size, head.size], data);
}

function joinBatches(name: string, batches: readonly PartValuesByName[], count: number): Tensor<'float32'> {
  const [batch = 0, ...rest] = batches[0]?.[name]?.dims ?? [];
  const rowSize = rest.reduce((product, dim) => product * dim, 1);
  const data = new Float32Array(count * rowSize);
  for (const [index, values] of batches.entries()) {
    const rows = getPartValue(values, name, [batch, ...rest]);
    const start = index * batch;
    if (start >= count)
      throw new DetectionError('part-values', `value "${name}" ${formatShape([batch, ...rest])} does not count RoIs in its first axis`);
    data.set(rows.subarray(0, Math.min(batch, count - start) * rowSize), start * rowSize);
  }
  return makeTensor('float32', [count, ...rest], data);
}
