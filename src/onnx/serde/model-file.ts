/** How is a model read from and written to a file, with its external data beside it? */
import { type FileHandle, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { formatBytes } from '../../base/format.js';
import { type NewFile, writeBeside } from '../../base/write-beside.js';
import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { decodeModel } from './decode-model.js';
import { encodeModelChunks, MAX_MODEL_BYTES } from './encode-model.js';
import { openExternalFiles } from './external-data.js';
import { type ExternalPlacement, placeExternalData } from './external-placement.js';

export interface ReadOptions {
  /** The folder that locations of external data are relative to, and that they cannot leave; the model's own where absent. */
  readonly externalFolder?: string;
}

/**
 * Reads a model. Its external data has to lie in the model's folder or the one given: it is looked for now, and read when a constant's bytes are used.
 * @throws OnnxError `model-unreadable`, `model-too-large`, `model-malformed`, `external-data-path`, `external-data-missing`, `external-data-bounds`.
 */
export async function readModel(path: string, { externalFolder = dirname(path) }: ReadOptions = {}): Promise<Model> {
  const bytes = await readBytes(path);
  try {
    return decodeModel(bytes, { readExternal: openExternalFiles(externalFolder) });
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    const options = { details: error.details, cause: error };
    throw new OnnxError(
      error.code,
      `${basename(path)}: ${error.message}`,
      error.help === undefined ? options : { ...options, help: error.help },
    );
  }
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    const facts = await stat(path);
    if (!facts.isFile()) throw new Error(facts.isDirectory() ? 'it is a folder' : 'it is no plain file');
    if (facts.size > MAX_MODEL_BYTES) {
      throw new OnnxError('model-too-large', `the file "${basename(path)}" has ${formatBytes(facts.size)}; an ONNX file holds 2 GiB`, {
        help: 'is it the external data of a model? Larger models have their weights in files beside them',
      });
    }
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof OnnxError) throw cause;
    throw new OnnxError(
      'model-unreadable',
      `the model "${basename(path)}" cannot be read: ${cause instanceof Error ? cause.message : cause}`,
      { cause, help: 'check the path, and that it is a file that you may read' },
    );
  }
}

export interface WriteOptions {
  /** Initializers of at least `thresholdBytes` go to `file`, a name in the model's folder. */
  readonly externalData?: ExternalPlacement;
  /** Whether what is written survives a power cut. Default: 'no-flush'. */
  readonly flush?: 'flush' | 'no-flush';
}

/**
 * Writes a model, and its folder where that is missing. Equal models and options give equal files; the files appear when they are whole.
 * It may take the place of the file that it was read from; constants that were read from external data in that place are then gone from `model`.
 * @throws OnnxError `model-too-large` beyond 2 GiB without external data, `external-data-path` where `file` is no plain name or the model's own,
 *   `not-a-file`; what reading constants throws.
 */
export async function writeModel(path: string, model: Model, { externalData, flush = 'no-flush' }: WriteOptions = {}): Promise<void> {
  const files: NewFile[] = [];
  const outside = externalData === undefined ? undefined : placeExternalData(externalData, basename(path));
  const chunks = encodeModelChunks(model, outside === undefined ? {} : { placeExternal: outside.place });
  if (outside !== undefined && outside.sizeBytes() > 0) files.push({ path: join(dirname(path), outside.file), write: outside.write });
  files.push({ path, write: file => writeChunks(file, chunks) });
  await writeBeside(files, flush);
}

async function writeChunks(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  for (const chunk of chunks) await file.writeFile(chunk);
}
