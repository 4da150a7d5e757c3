/** What goes into each part of a detector for one image, and what comes out? Batches of RoIs as long as they are, or cut to a cap; never padded. */
import { getDefined } from '../../base/invariant.js';
import type { Tensor } from '../../tensor/tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import type { MaskRcnnPart } from '../recipe.js';
import type { FittedImage } from '../transform.js';
import { type Detector, locateObjects, runRoiHead } from './detector.js';
import type { PartValuesByName } from './part-runner.js';

export interface PartTensors {
  /** The part's input. A head's first axis counts RoIs and may be 0. */
  readonly input: Tensor<'float32'>;
  /** What the part gives for exactly this input. */
  readonly outputs: PartValuesByName;
  /** RoIs before the cap; 1 for the backbone. */
  readonly seen: number;
}

export interface RoiCap {
  readonly max: number;
  /**
   * Which RoIs are kept of more than `max`: the 'first', in the detector's order (proposals by falling objectness, detections by falling score);
   * or `max` of them 'spread' evenly over that order: number floor(i · seen / max) for i < max.
   */
  readonly keep: 'first' | 'spread';
}

/** Runs the detector on one image. @throws DetectionError `part-values`, RuntimeError `model-run`. */
export async function tracePartTensors(
  detector: Detector,
  image: FittedImage,
  cap: RoiCap,
): Promise<Readonly<Record<MaskRcnnPart, PartTensors>>> {
  const backbone = await detector.run('backbone', image.tensor);
  const { boxFeatures, boxHead, maskFeatures } = await locateObjects(detector, backbone, image.resized);
  return {
    backbone: { input: image.tensor, outputs: backbone, seen: 1 },
    box_head: await runKept(detector, 'box_head', boxFeatures, cap, boxHead),
    mask_head: await runKept(detector, 'mask_head', maskFeatures, cap, undefined),
  };
}

/** `whole`: the outputs for all of `features`, where they are known. A kept batch is run anew: sums may round otherwise in a batch of another length. */
async function runKept(
  detector: Detector,
  part: Exclude<MaskRcnnPart, 'backbone'>,
  features: Tensor<'float32'>,
  cap: RoiCap,
  whole: PartValuesByName | undefined,
): Promise<PartTensors> {
  const seen = getDefined(features.dims[0], 'the number of RoIs');
  const input = keepRows(features, cap);
  const outputs = seen <= cap.max && whole !== undefined ? whole : await runRoiHead(detector, part, input);
  return { input, outputs, seen };
}

/** At most `max` rows of the first axis. */
export function keepRows(tensor: Tensor<'float32'>, { max, keep }: RoiCap): Tensor<'float32'> {
  const [seen = 0, ...rest] = tensor.dims;
  if (seen <= max) return tensor;
  const size = tensor.data.length / seen;
  if (keep === 'first') return makeTensor('float32', [max, ...rest], tensor.data.slice(0, max * size));
  const data = new Float32Array(max * size);
  for (let i = 0; i < max; i++) {
    const row = Math.floor((i * seen) / max);
    data.set(tensor.data.subarray(row * size, (row + 1) * size), i * size);
  }
  return makeTensor('float32', [max, ...rest], data);
}
