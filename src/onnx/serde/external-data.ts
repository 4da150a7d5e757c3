/** Where do tensors lie that are outside the model file, and how are they read without leaving the model's folder? */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { formatBytes } from '../../base/format.js';
import { OnnxError } from '../onnx-error.js';
import type { TensorProto } from '../proto/generated/messages.js';
import { malformed } from './malformed.js';

export interface ExternalLocation {
  /** Relative to the model's folder, with forward slashes. */
  readonly location: string;
  readonly offset: number;
  /** undefined: to the end of the file. */
  readonly length: number | undefined;
}

/** Reads the bytes of a tensor that should have `size` bytes. `label` names it in messages. */
export type ReadExternal = (where: ExternalLocation, size: number, label: string) => Uint8Array;

/** @throws OnnxError `external-data-path` where the location could leave the model's folder, `model-malformed` where an entry is no number. */
export function parseExternalLocation(proto: TensorProto, label: string): ExternalLocation {
  const entries = new Map((proto.externalData ?? []).map(entry => [entry.key ?? '', entry.value ?? '']));
  const location = entries.get('location') ?? '';
  const reason = findUnsafeReason(location);
  if (reason !== undefined) {
    throw new OnnxError('external-data-path', `${label}: external data location ${JSON.stringify(location)} ${reason}`, {
      help: "external data has to lie in the model's own folder",
    });
  }
  const length = parseCount(entries.get('length'), `${label}: external data length`);
  return { location, offset: parseCount(entries.get('offset'), `${label}: external data offset`) ?? 0, length };
}

/** Why a location could name something outside the model's folder; undefined where it cannot. Backslashes and drive letters count on every system. */
export function findUnsafeReason(location: string): string | undefined {
  if (location === '') return 'is empty';
  if (location.includes('\0')) return 'has a zero byte';
  if (/^[/\\]|^[A-Za-z]:/.test(location)) return 'is absolute';
  if (location.split(/[/\\]/).includes('..')) return 'leaves the folder by ".."';
  return undefined;
}

function parseCount(text: string | undefined, what: string): number | undefined {
  if (text === undefined || text === '') return undefined;
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count)) throw malformed(`${what} is ${JSON.stringify(text)}, not a count of bytes`);
  return count;
}

export interface ExternalFiles {
  readonly read: ReadExternal;
  close(): void;
}

/**
 * Opens the files that `read` asks for, each once, and reads one tensor at a time. Locations are relative to `modelFolder`.
 * `read` throws OnnxError `external-data-path` (also for a symbolic link that leads out of the folder), `external-data-missing`, `external-data-bounds`.
 */
export function openExternalFiles(modelFolder: string): ExternalFiles {
  const folder = realpathSync(modelFolder);
  const open = new Map<string, { readonly file: number; readonly sizeBytes: number }>();
  return {
    read(where, size, label) {
      const { file, sizeBytes } = open.get(where.location) ?? openInside(folder, where.location, label);
      open.set(where.location, { file, sizeBytes });
      const length = where.length ?? size;
      if (length !== size) throw malformed(`${label} needs ${size} bytes, its external data has ${length}`);
      if (where.offset + length > sizeBytes) {
        throw new OnnxError(
          'external-data-bounds',
          `${label}: bytes ${where.offset} to ${where.offset + length} of "${where.location}", which has ${sizeBytes} (${formatBytes(sizeBytes)})`,
          { help: 'the external data file may be cut off or belong to another model' },
        );
      }
      return readFully(file, where.offset, length, where.location);
    },
    close() {
      for (const { file } of open.values()) closeSync(file);
      open.clear();
    },
  };
}

function openInside(folder: string, location: string, label: string): { file: number; sizeBytes: number } {
  const path = resolveReal(join(folder, location.replaceAll('\\', sep)), label, location);
  if (!path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) {
    throw new OnnxError('external-data-path', `${label}: external data location "${location}" leads out of the model's folder`, {
      help: "external data has to lie in the model's own folder",
    });
  }
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const facts = fstatSync(file);
  if (!facts.isFile()) {
    closeSync(file);
    throw new OnnxError('external-data-path', `${label}: external data location "${location}" is no file`);
  }
  return { file, sizeBytes: facts.size };
}

function resolveReal(path: string, label: string, location: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new OnnxError('external-data-missing', `${label}: its external data file "${location}" cannot be opened`, {
      cause,
      help: 'copy the file beside the model',
    });
  }
}

function readFully(file: number, offset: number, length: number, location: string): Uint8Array {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const count = readSync(file, bytes, done, Math.min(length - done, 1 << 30), offset + done);
    if (count === 0) throw new OnnxError('external-data-bounds', `external data file "${location}" became shorter while it was read`);
    done += count;
  }
  return bytes;
}
