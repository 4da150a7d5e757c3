/** Reading of tensors outside the model file, restricted to the folder of the model. */
import { closeSync, constants, fstatSync, openSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { findOwn } from '../../base/find-own.js';
import { formatBytes } from '../../base/text/format.js';
import type { RawTensor } from '../../tensor/tensor.js';
import { OnnxError } from '../ir/onnx-error.js';
import type { TensorProto } from '../proto/generated/messages.js';
import { findUnsafeReason, normalizeLocation } from './external-names.js';
import { identify, makeFileConstant, makeReadCache } from './file-constant.js';
import { malformed } from './malformed.js';

export interface ExternalLocation {
  /** Relative to the folder of the model, with forward slashes. */
  readonly location: string;
  readonly offset: number;
  /** undefined: the size that the tensor needs. */
  readonly length: number | undefined;
}

/** The dtype, shape and size of a tensor from its TensorProto. `label` names it in messages. */
export interface ExternalTensor extends Pick<RawTensor, 'dtype' | 'dims'> {
  readonly sizeBytes: number;
  readonly label: string;
}

/** Locates the bytes of a tensor and checks that they exist; they are read on first use. */
export type ReadExternal = (where: ExternalLocation, tensor: ExternalTensor) => RawTensor;

/** @throws OnnxError `external-data-path` if the location could be outside the folder of the model, `model-malformed` if an entry is not a number. */
export function parseExternalLocation(proto: TensorProto, label: string): ExternalLocation {
  const entries = new Map((proto.externalData ?? []).map(entry => [entry.key ?? '', entry.value ?? '']));
  const location = entries.get('location') ?? '';
  const reason = findUnsafeReason(location);
  if (reason !== undefined) {
    throw new OnnxError('external-data-path', `${label}: external data location ${JSON.stringify(location)} ${reason}`, {
      help: 'external data must be in the folder of the model',
    });
  }
  const length = parseCount(entries.get('length'), `${label}: external data length`);
  return { location, offset: parseCount(entries.get('offset'), `${label}: external data offset`) ?? 0, length };
}

function parseCount(text: string | undefined, what: string): number | undefined {
  if (text === undefined || text === '') return undefined;
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count))
    throw malformed(`${what} is ${JSON.stringify(text)}, expected a number of bytes`);
  return count;
}

/** Budget for cached bytes, in addition to the largest constant in use. */
const KEPT_BYTES = 64 << 20;

/** A folder, to which locations are relative; a file, whatever its name, that must be the only one that the model refers to; or files by location. */
export type ExternalPlace = string | Readonly<Record<string, string>>;

/**
 * Locates tensors in the files of `place`; each file is examined once.
 * The result throws OnnxError `external-data-path` (also for a symbolic link out of the folder), `external-data-missing`, `external-data-bounds`.
 */
export function openExternalFiles(place: ExternalPlace): ReadExternal {
  const examine = openPlace(place);
  const known = new Map<string, ExternalFile>();
  const cache = makeReadCache(KEPT_BYTES);
  return (where, { dtype, dims, sizeBytes, label }) => {
    const file = known.get(where.location) ?? examine(where.location, label, known);
    known.set(where.location, file);
    const length = where.length ?? sizeBytes;
    if (length !== sizeBytes) throw malformed(`${label} needs ${sizeBytes} bytes, but its external data has ${length}`);
    if (where.offset + length > file.sizeBytes) {
      throw new OnnxError(
        'external-data-bounds',
        `${label}: needs bytes ${where.offset} to ${where.offset + length} of "${where.location}", which has ${file.sizeBytes} bytes (${formatBytes(file.sizeBytes)})`,
        { help: 'the external data file may be truncated or belong to another model' },
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

type Examine = (location: string, label: string, known: ReadonlyMap<string, ExternalFile>) => ExternalFile;

function openPlace(place: ExternalPlace): Examine {
  if (typeof place !== 'string') return (location, label) => examineNamed(findOwn(place, normalizeLocation(location)), location, label);
  const real = realpathSync(place);
  return statSync(real).isDirectory()
    ? (location, label) => examineFile(real, location, label)
    : (location, label, known) => examineOnlyFile(real, location, label, known);
}

function examineNamed(path: string | undefined, location: string, label: string): ExternalFile {
  if (path === undefined) throw cannotOpen(label, location, undefined);
  return factsOf(resolveReal(path, label, location), label, location);
}

function examineFile(folder: string, location: string, label: string): ExternalFile {
  const path = resolveReal(join(folder, location.replaceAll('\\', sep)), label, location);
  if (!path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) {
    throw new OnnxError('external-data-path', `${label}: external data location "${location}" is outside the folder of the model`, {
      help: 'external data must be in the folder of the model',
    });
  }
  return factsOf(path, label, location);
}

function examineOnlyFile(path: string, location: string, label: string, known: ReadonlyMap<string, ExternalFile>): ExternalFile {
  const [other] = known.keys();
  if (other === undefined) return factsOf(path, label, location);
  throw new OnnxError(
    'external-data-missing',
    `${label}: its external data file "${location}" is not the file that "${other}" was read from`,
    {
      help: 'the model has several external data files: give their folder',
    },
  );
}

function factsOf(path: string, label: string, location: string): ExternalFile {
  const file = openToRead(path, label, location);
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) throw new OnnxError('external-data-path', `${label}: external data location "${location}" is not a file`);
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
    help: 'copy the file to the folder of the model',
  });
}
