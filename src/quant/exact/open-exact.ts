/** Opens models for evaluation. A QDQ model that is exact in float32 runs in float32, which is faster and gives the same bits. */
import { readFile } from 'node:fs/promises';
import { OnnxError } from '../../onnx/ir/onnx-error.js';
import { type OpenModel, openSession } from '../../runtime/session/session.js';

/** Like `openSession`, with the same results. @throws RuntimeError `model-load`. */
export const openExact: OpenModel = async (model, options) =>
  openSession(model, typeof model === 'string' && (await isExact(model)) ? { ...options, quantized: 'float' } : options);

/** False for a model that cannot be read here: ONNX Runtime reports the error. */
async function isExact(path: string): Promise<boolean> {
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes?.includes('DequantizeLinear') !== true) return false;
  // Loaded only for quantized models.
  const { readModel } = await import('../../onnx/serde/model-file.js');
  const { isExactInFloat } = await import('./exact-in-float.js');
  try {
    return isExactInFloat(await readModel(path));
  } catch (error) {
    if (error instanceof OnnxError) return false;
    throw error;
  }
}
