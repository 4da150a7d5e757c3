/** What all commands on single models share: reading models, writing results, and reporting errors. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { isCodedError } from '../../../base/coded-error.js';
import { isSystemCallError } from '../../../base/system-error.js';
import { listConstants } from '../../../onnx/analysis/model-stats.js';
import { assertModel } from '../../../onnx/check/check-model.js';
import type { Model } from '../../../onnx/ir/model.js';
import { OnnxError } from '../../../onnx/ir/onnx-error.js';
import { sortTopologically } from '../../../onnx/ir/sort.js';
import { findFileRange } from '../../../onnx/serde/file-constant.js';
import { readModel, type WriteOptions, writeModel } from '../../../onnx/serde/model-file.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';

export interface OnnxOptions {
  readonly json: boolean;
}

/** Runs `action`. An error that a user can cause is reported once on stderr, and with `--json` also as a document of diagnostics; exit code 2. */
export async function runOnnx({ json }: OnnxOptions, action: (console: Console) => Promise<ExitCode>): Promise<ExitCode> {
  const console = makeConsole({ json });
  try {
    return await action(console);
  } catch (error) {
    return endWithError(error, console, { json }, EXIT.usage);
  }
}

/**
 * Reads a model, checks its structure, and sorts its nodes topologically. The requirements of operators are not checked,
 * so that the commands can fix such a model.
 * @throws OnnxError of reading; `graph-cycle`, `model-invalid`.
 */
export async function readSound(path: string): Promise<Model> {
  const model = await readModel(path);
  sortTopologically(model.graph);
  assertModel(model, basename(path), 'structure');
  return model;
}

/** The placement of the weights of a written model. 'same': as in the model that was read. */
export type Weights = 'same' | 'inside' | 'outside';

/** Smaller constants stay in the model: shapes and scales are needed to load it. */
const OUTSIDE_FROM_BYTES = 1024;

/** External data is stored beside the model, in a file with the model's name and the suffix ".data". */
export function placeWeights(path: string, model: Model, weights: Weights): WriteOptions {
  const outside = weights === 'outside' || (weights === 'same' && hasExternalData(model));
  return outside ? { externalData: { thresholdBytes: OUTSIDE_FROM_BYTES, file: basename(dataFileOf(path)) } } : {};
}

export function hasExternalData({ graph }: Model): boolean {
  for (const constant of listConstants(graph)) if (findFileRange(constant) !== undefined) return true;
  return false;
}

/**
 * Writes a result. The file gets its name only when it is complete.
 * @throws OnnxError as `writeModel`; `not-writable`; `model-invalid` if a command would write an unsound model, which is a defect.
 */
export async function writeResult(path: string, model: Model, weights: Weights): Promise<void> {
  sortTopologically(model.graph);
  assertModel(model, 'the result', 'structure');
  try {
    const had = await hasOwnData(path);
    await writeModel(path, model, { ...placeWeights(path, model, weights), flush: 'flush' });
    if (had && !(await hasOwnData(path))) await rm(dataFileOf(path));
  } catch (error) {
    if (isCodedError(error) || !isSystemCallError(error)) throw error;
    throw new OnnxError('not-writable', `"${basename(path)}" cannot be written: ${error.message}`, {
      cause: error,
      help: 'free space, make the folder writable, or name another file',
    });
  }
}

const dataFileOf = (path: string): string => `${path}.data`;

/**
 * Whether the model at `path` has weights in the ".data" file beside it that these commands write.
 * That file is removed when the weights move into the model.
 */
async function hasOwnData(path: string): Promise<boolean> {
  if (!existsSync(path) || !existsSync(dataFileOf(path))) return false;
  try {
    const { graph } = await readModel(path);
    return [...listConstants(graph)].some(constant => basename(findFileRange(constant)?.path ?? '') === basename(dataFileOf(path)));
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    return false;
  }
}
