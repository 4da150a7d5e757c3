/** Placement of constants in an external data file, one after another at page boundaries. */
import type { FileHandle } from 'node:fs/promises';
import type { RawTensor } from '../../tensor/tensor.js';
import type { Constant } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import type { ExternalLocation } from './external-data.js';
import { findUnsafeReason } from './external-names.js';
import { byteLengthOf, findFileRange, readChunks } from './file-constant.js';

/** Constants start at memory pages, so that runtimes can map them. */
const ALIGNMENT = 4096;

export interface ExternalPlacement {
  readonly thresholdBytes: number;
  /** A file name in the folder of the model. */
  readonly file: string;
}

export interface PlacedData {
  readonly file: string;
  /** The location of a constant; undefined: it stays inside the model file. Called once per constant, in file order. */
  readonly place: (constant: Constant) => ExternalLocation | undefined;
  readonly sizeBytes: () => number;
  /** Writes the placed constants. A constant in a file is copied in chunks. */
  readonly write: (file: FileHandle) => Promise<void>;
}

/** @throws OnnxError `external-data-path` if the file name is invalid or that of the model. */
export function placeExternalData({ thresholdBytes, file }: ExternalPlacement, modelFile: string): PlacedData {
  const reason =
    findUnsafeReason(file) ?? (/[/\\]/.test(file) ? 'is in another folder' : file === modelFile ? 'is the model file' : undefined);
  if (reason !== undefined) throw new OnnxError('external-data-path', `external data file ${JSON.stringify(file)} ${reason}`);
  const placed: { readonly constant: RawTensor; readonly offset: number }[] = [];
  let end = 0;
  return {
    file,
    place(constant) {
      const length = 'bytes' in constant ? byteLengthOf(constant) : 0;
      if (!('bytes' in constant) || length < thresholdBytes) return undefined;
      const offset = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
      end = offset + length;
      placed.push({ constant, offset });
      return { location: file, offset, length };
    },
    sizeBytes: () => end,
    async write(handle) {
      for (const { constant, offset } of placed) await writeConstant(handle, constant, offset);
    },
  };
}

async function writeConstant(handle: FileHandle, constant: RawTensor, offset: number): Promise<void> {
  const range = findFileRange(constant);
  const chunks = range === undefined ? [{ chunk: constant.bytes, at: 0 }] : readChunks(range);
  for (const { chunk, at } of chunks) await writeAll(handle, chunk, offset + at);
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    done += (await handle.write(bytes, done, Math.min(bytes.byteLength - done, 1 << 30), position + done)).bytesWritten;
  }
}
