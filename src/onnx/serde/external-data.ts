/** Where do tensors lie that are outside the model file, and how are they read without leaving the model's folder? */
import { closeSync, constants, fstatSync, openSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { formatBytes } from '../../base/format.js';
import type { RawTensor } from '../../tensor/tensor.js';
import { OnnxError } from '../ir/onnx-error.js';
import type { TensorProto } from '../proto/generated/messages.js';
import { identify, makeFileConstant, makeReadCache } from './file-constant.js';
import { malformed } from './malformed.js';

export interface ExternalLocation {
  /** Relative to the model's folder, with forward slashes. */
  readonly location: string;
  readonly offset: number;
  /** undefined: to the end of the file. */
  readonly length: number | undefined;
}

/** A tensor as its TensorProto describes it, and the bytes that this makes. `label` names it in messages. */
export interface ExternalTensor extends Pick<RawTensor, 'dtype' | 'dims'> {
  readonly sizeBytes: number;
  readonly label: string;
}

/** Finds the tensor's bytes. They are checked to be there, and read when they are used. */
export type ReadExternal = (where: ExternalLocation, tensor: ExternalTensor) => RawTensor;

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

/** Bytes that stay in memory of what was read; the largest constant in use comes on top. */
const KEPT_BYTES = 64 << 20;

/**
 * Finds tensors in the files beside a model; each file is looked at once. Locations are relative to `modelFolder`.
 * Throws OnnxError `external-data-path` (also for a symbolic link that leads out of the folder), `external-data-missing`, `external-data-bounds`.
 */
export function openExternalFiles(modelFolder: string): ReadExternal {
  const folder = realpathSync(modelFolder);
  const known = new Map<string, ExternalFile>();
  const cache = makeReadCache(KEPT_BYTES);
  return (where, { dtype, dims, sizeBytes, label }) => {
    const file = known.get(where.location) ?? lookInside(folder, where.location, label);
    known.set(where.location, file);
    const length = where.length ?? sizeBytes;
    if (length !== sizeBytes) throw malformed(`${label} needs ${sizeBytes} bytes, its external data has ${length}`);
    if (where.offset + length > file.sizeBytes) {
      throw new OnnxError(
        'external-data-bounds',
        `${label}: bytes ${where.offset} to ${where.offset + length} of "${where.location}", which has ${file.sizeBytes} (${formatBytes(file.sizeBytes)})`,
        { help: 'the external data file may be cut off or belong to another model' },
      );
    }
    return makeFileConstant(dtype, dims, { path: file.path, identity: file.identity, offset: where.offset, length }, cache);
  };
}

interface ExternalFile {
  readonly path: string;
  readonly identity: string;
  readonly sizeBytes: number;
}

function lookInside(folder: string, location: string, label: string): ExternalFile {
  const path = resolveReal(join(folder, location.replaceAll('\\', sep)), label, location);
  if (!path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) {
    throw new OnnxError('external-data-path', `${label}: external data location "${location}" leads out of the model's folder`, {
      help: "external data has to lie in the model's own folder",
    });
  }
  const file = openToRead(path, label, location);
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) throw new OnnxError('external-data-path', `${label}: external data location "${location}" is no file`);
    return { path, identity: identify(facts), sizeBytes: facts.size };
  } finally {
    closeSync(file);
  }
}

function openToRead(path: string, label: string, location: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw cannotOpen(label, location, cause);
  }
}

function resolveReal(path: string, label: string, location: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw cannotOpen(label, location, cause);
  }
}

function cannotOpen(label: string, location: string, cause: unknown): OnnxError {
  return new OnnxError('external-data-missing', `${label}: its external data file "${location}" cannot be opened`, {
    cause,
    help: 'copy the file beside the model',
  });
}
