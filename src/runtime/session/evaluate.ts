/** Evaluates constant subgraphs for the ONNX passes, in an ONNX Runtime session for each. */
import type { Evaluate } from '../../onnx/passes/evaluate.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import { openSession } from './session.js';

/**
 * Runs a model without inputs. Graph optimization is off, so that every node runs its own kernel, as in a session of the whole model without optimization.
 * @throws RuntimeError `model-load`, `model-run`.
 */
export const evaluate: Evaluate = async model => {
  const session = await openSession(encodeModel(model), { optimization: 'disabled' });
  try {
    return await session.run({});
  } finally {
    await session.close();
  }
};
