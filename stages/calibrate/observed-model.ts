/** Keeps the calibrated model open between calls of stage parts. */
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openSketcher, type Sketcher } from '../../src/quant/calibration/sketch-model.js';
import { type Closable, makeOpenOrReuse } from '../../src/stage/reuse-open.js';

/** Budget for activations in memory. It does not affect results. */
const BUDGET_BYTES = 32 << 20;
/** The RoI count assumed for the budget; most batches are at most this long. */
const FREE_DIM = 50;

export interface ObservedModel extends Closable {
  readonly model: Model;
  readonly sketcher: Sketcher;
}

const reuse = makeOpenOrReuse<ObservedModel>();

/** The sessions stay open between consecutive samples of one model, and between the first pass and the second. */
export function openObservedModel(digest: string, path: string): Promise<ObservedModel> {
  return reuse(digest, async () => {
    const model = await readModel(path);
    const sketcher = openSketcher(model, { budgetBytes: BUDGET_BYTES, freeDim: FREE_DIM });
    return { model, sketcher, close: () => sketcher.close() };
  });
}
