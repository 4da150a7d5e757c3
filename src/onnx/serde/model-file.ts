/** Reading and writing of model files with their external data. */
import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type NewFile, writeBeside } from '../../base/files/write-beside.js';
import { formatBytes } from '../../base/text/format.js';
import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { decodeModel } from './decode-model.js';
import { encodeModelChunks, MAX_MODEL_BYTES } from './encode-model.js';
import { type ExternalPlace, openExternalFiles } from './external-data.js';
import { type ExternalPlacement, placeExternalData } from './external-placement.js';

export interface ReadOptions {
  /** The folder that contains external data, to which locations are relative, its only file, or its files by location. Default: the folder of the model. */
  readonly externalData?: ExternalPlace;
}

/**
 * Reads a model. Its external data must be where `externalData` says: its files are located now, and bytes of constants are read on use.
 * @throws OnnxError `model-unreadable`, `model-too-large`, `model-malformed`, `external-data-path`, `external-data-missing`, `external-data-bounds`.
 */
export async function readModel(path: string, { externalData = dirname(path) }: ReadOptions = {}): Promise<Model> {
  const bytes = await readBytes(path);
  try {
    return decodeModel(bytes, { readExternal: openExternalFiles(externalData) });
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
    if (!facts.isFile()) throw new Error(facts.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    if (facts.size > MAX_MODEL_BYTES) {
      throw new OnnxError('model-too-large', `the file "${basename(path)}" has ${formatBytes(facts.size)}; an ONNX file can hold 2 GiB`, {
        help: 'it may be the external data of a model: larger models have their weights in separate files',
      });
    }
    return await readWhole(path, facts.size);
  } catch (cause) {
    if (cause instanceof OnnxError) throw cause;
    throw new OnnxError(
      'model-unreadable',
      `the model "${basename(path)}" cannot be read: ${cause instanceof Error ? cause.message : cause}`,
      { cause, help: 'check the path and the permissions of the file' },
    );
  }
}

/** In one call for the whole file, which takes a third less time than pieces. A file that became shorter gives what there is. */
async function readWhole(path: string, sizeBytes: number): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const bytes = Buffer.allocUnsafeSlow(sizeBytes);
    let filled = 0;
    while (filled < sizeBytes) {
      const { bytesRead } = await file.read(bytes, filled, sizeBytes - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

export interface WriteOptions {
  /** Initializers of at least `thresholdBytes` are written to `file`, a name in the folder of the model. */
  readonly externalData?: ExternalPlacement;
  /** Whether the files are flushed to disk, so that they survive a power failure. Default: 'no-flush'. */
  readonly flush?: 'flush' | 'no-flush';
}

/**
 * Writes a model and creates its folder if necessary. Equal models and options give equal files; the files appear when they are complete.
 * It may replace the file that the model was read from; constants of `model` in replaced external data can then no longer be read.
 * @throws OnnxError `model-too-large` beyond 2 GiB without external data, `external-data-path` if `file` is not a plain name or is that of the model,
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
