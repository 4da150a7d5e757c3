/** How is the observed model kept open from one part of the work to the next? */
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openSketcher, type Sketcher } from '../../src/quant/calibration/sketch-model.js';

/** How much of the activations is held at once. The result does not depend on it. */
const BUDGET_BYTES = 32 << 20;
/** RoIs that the budget is divided for; batches are usually as long or shorter. */
const FREE_DIM = 50;

export interface ObservedModel {
  readonly digest: string;
  readonly model: Model;
  readonly sketcher: Sketcher;
}

let kept: ObservedModel | undefined;

/** The sessions stay open from one sample to the next of the same model, and from the first pass to the second. */
export async function openObservedModel(digest: string, path: string): Promise<ObservedModel> {
  if (kept?.digest === digest) return kept;
  await kept?.sketcher.close();
  kept = undefined;
  const model = await readModel(path);
  kept = { digest, model, sketcher: openSketcher(model, { budgetBytes: BUDGET_BYTES, freeDim: FREE_DIM }) };
  return kept;
}
