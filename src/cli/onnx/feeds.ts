/** What are models fed in a command? Tensors from files, or seeded random ones: the same on every run. */
import { existsSync } from 'node:fs';
import { OnnxError } from '../../onnx/ir/onnx-error.js';
import type { ProofFeeds } from '../../runtime/feeds/proof-feeds.js';
import { seededRandom } from '../../stage/random.js';

/** What a size counts as that the model leaves free and no `--dim` gives. */
const FREE_SIZE = 2;

export interface FeedsOptions {
  readonly samples: number;
  /** A .npz or .npy file, or a folder of tensors; random tensors where absent. */
  readonly data?: string;
  readonly dim: Readonly<Record<string, number>>;
}

/** @throws OnnxError `file-missing`. */
export function feedsOf({ samples, data, dim }: FeedsOptions): ProofFeeds {
  if (data !== undefined && !existsSync(data))
    throw new OnnxError('file-missing', `there is no "${data}"`, { help: 'check the path after --data' });
  return { samples, tensors: data, random: sample => seededRandom('tanren onnx', `sample ${sample}`), sizes: dim, freeSize: FREE_SIZE };
}

/** What helps where a model does not run on random inputs. */
export const NO_RANDOM = 'give inputs that the model takes by --data';
