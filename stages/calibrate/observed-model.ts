/** The calibrated model with its sessions, reused from one part of the work to the next. */
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openSketcher, type Sketcher } from '../../src/quant/calibration/sketch-model.js';
import { type Closable, makeReuse } from '../../src/stage/reuse-open.js';

/** How much of the activations is held at once. The result does not depend on it. */
const BUDGET_BYTES = 32 << 20;
/** RoIs that the budget is divided for; batches are usually as long or shorter. */
const FREE_DIM = 50;

export interface ObservedModel extends Closable {
  readonly model: Model;
  readonly sketcher: Sketcher;
}

const reuse = makeReuse<ObservedModel>();

/** The sessions stay open while samples of the same model follow one another, and from the first pass to the second. */
export function openObservedModel(digest: string, path: string): Promise<ObservedModel> {
  return reuse(digest, async () => {
    const model = await readModel(path);
    const sketcher = openSketcher(model, { budgetBytes: BUDGET_BYTES, freeDim: FREE_DIM });
    return { model, sketcher, close: () => sketcher.close() };
  });
}
