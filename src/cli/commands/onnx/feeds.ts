/** The model inputs of a command: tensors from files, or seeded random tensors that are the same on every run. */
import { existsSync } from 'node:fs';
import { OnnxError } from '../../../onnx/ir/onnx-error.js';
import type { ProofFeeds } from '../../../runtime/feeds/proof-feeds.js';
import { seededRandom } from '../../../stage/random.js';

/** The size of a dynamic dim that no `--dim` sets. */
const FREE_SIZE = 2;

export interface FeedsOptions {
  readonly samples: number;
  /** A .npz or .npy file, or a folder of tensors; random tensors if absent. */
  readonly data?: string;
  readonly dim: Readonly<Record<string, number>>;
}

/** @throws OnnxError `file-missing`. */
export function feedsOf({ samples, data, dim }: FeedsOptions): ProofFeeds {
  if (data !== undefined && !existsSync(data))
    throw new OnnxError('file-missing', `"${data}" does not exist`, { help: 'check the path after --data' });
  return { samples, tensors: data, random: sample => seededRandom('tanren onnx', `sample ${sample}`), sizes: dim, freeSize: FREE_SIZE };
}

/** The help text if a model does not run on random inputs. */
export const NO_RANDOM = 'give valid inputs with --data';
