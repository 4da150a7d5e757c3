/** Reads captured tensors, one sample and part at a time, and checks each array against the index. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../../base/json.js';
import { type NpzArchive, readNpz } from '../../tensor/formats/npz.js';
import type { Tensor } from '../../tensor/tensor.js';
import { TensorError } from '../../tensor/tensor-error.js';
import type { NamedTensors } from '../session/model-inputs.js';
import { RuntimeError } from '../session/runtime-error.js';
import {
  type CapturedDim,
  type CapturedPart,
  type CapturedSample,
  type CapturedTensors,
  type CapturedValue,
  type CaptureIndex,
  getCapturedPart,
  INDEX_FILE,
  parseCaptureIndex,
} from './capture-index.js';

const AGAIN = 'run `capture` again: index and files do not match, or a file is damaged';

export interface Captured {
  readonly index: CaptureIndex;
  /** The npz file of a sample and part. @throws RuntimeError `capture-part`. */
  locate(sample: CapturedSample, part: string): CapturedTensors & { readonly path: string };
  /**
   * Reads the inputs, or the outputs, of a part for one sample.
   * @throws RuntimeError `capture-part`; `capture-mismatch` if the file differs from the index; TensorError of a damaged archive.
   */
  read(sample: CapturedSample, part: string, role: CapturedValue['role']): Promise<NamedTensors>;
}

/** @throws RuntimeError `bad-capture`. */
export async function openCaptured(folder: string): Promise<Captured> {
  const index = parseCaptureIndex(await readIndex(folder));
  const locate: Captured['locate'] = (sample, part) => {
    getCapturedPart(index, part);
    const tensors = sample.parts[part];
    if (tensors === undefined) throw new RuntimeError('capture-part', `sample "${sample.id}" has no part "${part}"`);
    return { ...tensors, path: join(folder, tensors.file) };
  };
  return {
    index,
    locate,
    async read(sample, part, role) {
      const tensors = locate(sample, part);
      return readCapturedTensors(tensors.path, getCapturedPart(index, part), role, `sample "${sample.id}": ${tensors.file}`, tensors.rows);
    },
  };
}

async function readIndex(folder: string): Promise<Json> {
  try {
    return JSON.parse(await readFile(join(folder, INDEX_FILE), 'utf8')) as Json;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replaceAll(folder, '…') : String(cause);
    throw new RuntimeError('bad-capture', `captured tensors: ${INDEX_FILE} cannot be read: ${reason}`, {
      cause,
      help: 'connect the output folder of a capture stage',
    });
  }
}

/** Reads the values of one role from an npz file; messages call it `place`. @throws as `Captured.read`. */
export async function readCapturedTensors(
  path: string,
  part: CapturedPart,
  role: CapturedValue['role'],
  place: string,
  rows: number,
): Promise<NamedTensors> {
  const archive = await openArchive(path, place);
  const values = part.values.filter(value => value.role === role);
  return Object.fromEntries(values.map(value => [value.name, getArray(archive, value, rows, place)]));
}

async function openArchive(path: string, place: string): Promise<NpzArchive> {
  try {
    return await readNpz(path);
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    throw new TensorError(error.code, `${place}: ${error.message}`, { cause: error, help: AGAIN });
  }
}

function getArray(archive: NpzArchive, value: CapturedValue, rows: number, place: string): Tensor {
  if (!archive.names.includes(value.array)) {
    throw mismatch(place, `the file has no array "${value.array}"; it has ${archive.names.join(', ')}`);
  }
  const tensor = getTensor(archive, value.array, place);
  const fits = tensor.dims.length === value.dims.length && value.dims.every((dim, axis) => isSize(tensor.dims[axis] ?? 0, dim, rows));
  if (tensor.dtype === value.dtype && fits) return tensor;
  const wanted = `${value.dtype} [${value.dims.map(dim => (dim === 'rows' ? rows : dim)).join(', ')}]`;
  throw mismatch(place, `array "${value.array}" is ${tensor.dtype} [${tensor.dims.join(', ')}], the index says ${wanted}`);
}

function getTensor(archive: NpzArchive, name: string, place: string): Tensor {
  try {
    return archive.get(name);
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    throw new TensorError(error.code, `${place}: array "${name}": ${error.message}`, { cause: error, help: AGAIN });
  }
}

function isSize(size: number, dim: CapturedDim, rows: number): boolean {
  if (dim === 'free') return true;
  return size === (dim === 'rows' ? rows : dim);
}

function mismatch(place: string, message: string): RuntimeError {
  return new RuntimeError('capture-mismatch', `${place}: ${message}`, {
    help: AGAIN,
  });
}
