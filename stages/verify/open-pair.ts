/** Opens the models of both sides of a part, to compare every inner value. */
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openValueComparer, type ValueComparer } from '../../src/quant/compare/compare-values.js';
import { listModelInputs, type ModelInput } from '../../src/runtime/session/model-inputs.js';
import type { ModelPair } from './part-models.js';

/** Budget for activations of each model, and the RoI count assumed for it. */
const PIECES = { budgetBytes: 32 << 20, freeDim: 50 };

export interface OpenPair {
  readonly comparer: ValueComparer;
  /** Inputs of the reference. */
  readonly wanted: readonly ModelInput[];
}

/** @throws OnnxError of reading. */
export async function openPair({ reference, candidate }: ModelPair): Promise<OpenPair> {
  const [original, other] = [await readModel(reference), await readModel(candidate)];
  return { comparer: openValueComparer(original, other, PIECES), wanted: listModelInputs(original) };
}
