/** How do the ONNX passes compute constants? By running the small model they make in an ONNX Runtime session of its own. */
import type { Evaluate } from '../../onnx/passes/evaluate.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import { openSession } from './session.js';

/**
 * Runs a model without inputs, with graph optimisation off: every node by its own kernel, as in a session that would run the whole model so.
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
