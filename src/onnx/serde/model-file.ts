/** How is a model read from and written to a file, with its external data beside it? */
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { formatBytes } from '../../base/format.js';
import type { Constant, Model } from '../ir/model.js';
import { OnnxError } from '../onnx-error.js';
import { decodeModel } from './decode-model.js';
import { encodeModel } from './encode-model.js';
import { type ExternalLocation, findUnsafeReason, openExternalFiles } from './external-data.js';

/** Node reads and writes no more than this in one call, and protobuf messages end there. */
const MAX_FILE_BYTES = 2 ** 31 - 1;
/** External tensors start on memory pages, so that runtimes can map them. */
const EXTERNAL_ALIGNMENT = 4096;

export interface ReadOptions {
  /** The folder that locations of external data are relative to, and that they cannot leave; the model's own where absent. */
  readonly externalFolder?: string;
}

/**
 * Reads a model and its external data, which has to lie in the model's folder or the one given.
 * @throws OnnxError `model-unreadable`, `model-malformed`, `external-data-path`, `external-data-missing`, `external-data-bounds`.
 */
export async function readModel(path: string, { externalFolder = dirname(path) }: ReadOptions = {}): Promise<Model> {
  const bytes = await readBytes(path);
  const external = openExternalFiles(externalFolder);
  try {
    return decodeModel(bytes, { readExternal: external.read });
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    const options = { details: error.details, cause: error };
    throw new OnnxError(
      error.code,
      `${basename(path)}: ${error.message}`,
      error.help === undefined ? options : { ...options, help: error.help },
    );
  } finally {
    external.close();
  }
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new OnnxError(
      'model-unreadable',
      `the model "${basename(path)}" cannot be read: ${cause instanceof Error ? cause.message : cause}`,
      { cause, help: 'check the path, and that it is a file that you may read' },
    );
  }
}

export interface WriteOptions {
  /** Initializers of at least `thresholdBytes` go to `file`, a name in the model's folder. */
  readonly externalData?: { readonly thresholdBytes: number; readonly file: string };
}

/**
 * Writes a model, and its folder where that is missing. Equal models and options give equal files.
 * @throws OnnxError `model-too-large` beyond 2 GiB without external data, `external-data-path` where `file` is no plain name.
 */
export async function writeModel(path: string, model: Model, options: WriteOptions = {}): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const placement = options.externalData === undefined ? undefined : makePlacement(options.externalData);
  const size = countInlineBytes(model, options.externalData?.thresholdBytes);
  if (size > MAX_FILE_BYTES) {
    throw new OnnxError('model-too-large', `the model has ${formatBytes(size)} of weights; an ONNX file holds 2 GiB`, {
      help: 'write the weights as external data',
    });
  }
  const bytes = encodeModel(model, placement === undefined ? {} : { placeExternal: placement.place });
  if (placement !== undefined) await writePlaced(join(dirname(path), placement.file), placement.placed);
  await writeFile(path, bytes);
}

interface Placement {
  readonly file: string;
  readonly placed: { readonly offset: number; readonly bytes: Uint8Array }[];
  readonly place: (constant: Constant) => ExternalLocation | undefined;
}

function makePlacement({ thresholdBytes, file }: { readonly thresholdBytes: number; readonly file: string }): Placement {
  const reason = findUnsafeReason(file) ?? (/[/\\]/.test(file) ? 'is in another folder' : undefined);
  if (reason !== undefined) throw new OnnxError('external-data-path', `external data file ${JSON.stringify(file)} ${reason}`);
  const placed: { offset: number; bytes: Uint8Array }[] = [];
  let next = 0;
  return {
    file,
    placed,
    place(constant) {
      if (!('bytes' in constant) || constant.bytes.byteLength < thresholdBytes) return undefined;
      const offset = Math.ceil(next / EXTERNAL_ALIGNMENT) * EXTERNAL_ALIGNMENT;
      next = offset + constant.bytes.byteLength;
      placed.push({ offset, bytes: constant.bytes });
      return { location: file, offset, length: constant.bytes.byteLength };
    },
  };
}

async function writePlaced(path: string, placed: Placement['placed']): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (const { offset, bytes } of placed) {
      for (let done = 0; done < bytes.byteLength; ) {
        done += (await file.write(bytes, done, Math.min(bytes.byteLength - done, 1 << 30), offset + done)).bytesWritten;
      }
    }
  } finally {
    await file.close();
  }
}

function countInlineBytes(model: Model, thresholdBytes = Number.POSITIVE_INFINITY): number {
  let size = 0;
  for (const { constant } of model.graph.values.values()) {
    if (constant !== undefined && 'bytes' in constant && constant.bytes.byteLength < thresholdBytes) size += constant.bytes.byteLength;
  }
  return size;
}
