/** Reads and describes one model in a thread of its own: a large model needs memory for a moment, and the server stays quick. */
import { parentPort, workerData } from 'node:worker_threads';
import { isCodedError } from '../../base/coded-error.js';
import { describeModel } from '../../onnx/describe/describe-model.js';
import { readModel } from '../../onnx/serde/model-file.js';

/** What the thread sends: the description as JSON, or why there is none. */
export type ModelAnswer =
  | { readonly kind: 'described'; readonly json: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

async function describe(path: string): Promise<ModelAnswer> {
  try {
    return { kind: 'described', json: JSON.stringify(describeModel(await readModel(path))) };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return { kind: 'refused', code: error.code, message: error.message };
  }
}

describe(String(workerData)).then(answer => parentPort?.postMessage(answer));
