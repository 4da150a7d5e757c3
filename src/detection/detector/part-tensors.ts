/** Inputs and outputs of each part of a detector for one image. Batches of RoIs are limited in size, but never padded. */
import { getDefined } from '../../base/invariant.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import type { RgbImage } from '../image/decode-image.js';
import type { Detector } from './detector.js';
import type { PartValuesByName } from './part-runner.js';
import { countRois } from './run-part.js';

export interface PartTensors {
  /** Inputs of the part. The first axis may be 0 for RoIs. */
  readonly inputs: PartValuesByName;
  /** Outputs of the part for these inputs. */
  readonly outputs: PartValuesByName;
  /** Number of RoIs before the limit; 1 for a part that runs once per image. */
  readonly seen: number;
}

export interface RoiCap {
  readonly max: number;
  /**
   * Which of more than `max` RoIs are kept. 'first': the first in the detector's order (proposals by falling objectness, detections by falling score).
   * 'spread': `max` RoIs spread evenly over that order, with indices floor(i · seen / max) for i < max.
   */
  readonly keep: 'first' | 'spread';
}

/** Runs the detector on one image. A reduced batch is run again, because sums may round differently with another batch size. @throws as `Detector.trace`. */
export async function tracePartTensors(detector: Detector, image: RgbImage, cap: RoiCap): Promise<Readonly<Record<string, PartTensors>>> {
  const trace = await detector.trace(image);
  const tensors: Record<string, PartTensors> = {};
  for (const part of detector.parts) {
    const { name } = part;
    const inputs = getDefined(trace.inputs[name], name);
    const seen = countRois(part, inputs);
    if (part.rois === 'none' || seen <= cap.max) tensors[name] = { inputs, outputs: getDefined(trace.outputs[name], name), seen };
    else {
      const kept = keepRows(inputs, cap);
      tensors[name] = { inputs: kept, outputs: await detector.runPart(name, kept), seen };
    }
  }
  return tensors;
}

/** At most `max` rows of the first axis of every value. */
export function keepRows(values: PartValuesByName, cap: RoiCap): PartValuesByName {
  return Object.fromEntries(Object.entries(values).map(([name, tensor]) => [name, keepRowsOf(tensor, cap)]));
}

function keepRowsOf(tensor: Tensor<'float32'>, { max, keep }: RoiCap): Tensor<'float32'> {
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
