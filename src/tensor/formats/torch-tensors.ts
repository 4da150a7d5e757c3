/** Extraction of named tensors from a decoded torch pickle. Each is checked against its storage before bytes are read. */
import { DTYPES } from '../dtype.js';
import { makeRawTensor } from '../raw-tensor.js';
import { isContiguous, makeStridedCopy } from '../strided-copy.js';
import type { RawTensor } from '../tensor.js';
import { TensorError } from '../tensor-error.js';
import { isKind } from './pickle-value.js';
import type { StorageRef, TensorRef, TorchValue } from './torch-pickle.js';

/** The bytes of the record of a storage. */
export type ReadStorage = (storage: StorageRef) => Uint8Array;

const MAX_DEPTH = 100;
/** Limit of visited values: a shared value is visited for each of its names, which can grow exponentially. */
const MAX_STEPS = 4_000_000;
/** Budget for copies of views: this many bytes, or eight times the size of the file. */
const MIN_COPY_BUDGET_BYTES = 1 << 28;

/**
 * All tensors, with names joined with dots (list items by index). Strided views are copied into row-major order, others are views of the bytes of `readStorage`.
 * @throws TensorError `storage-size`, `tensor-bounds`, `tensor-too-large`, `checkpoint-malformed` (two tensors with one name, a value inside itself).
 */
export function collectTensors(root: TorchValue, readStorage: ReadStorage, fileBytes: number): Map<string, RawTensor> {
  const tensors = new Map<string, RawTensor>();
  const budget = { bytes: Math.max(MIN_COPY_BUDGET_BYTES, 8 * fileBytes) };
  let steps = 0;
  const visit = (value: TorchValue, name: string, depth: number): void => {
    steps += 1;
    if (depth > MAX_DEPTH || steps > MAX_STEPS) {
      throw new TensorError('checkpoint-malformed', `the checkpoint is nested too deeply at "${name.slice(0, 200)}"`);
    }
    const enter = (key: string | number | bigint | boolean, item: TorchValue): void =>
      visit(item, name === '' ? String(key) : `${name}.${key}`, depth + 1);
    if (isKind(value, 'dict')) {
      for (const [key, item] of value.entries) if (isName(key)) enter(key, item);
    } else if (isKind(value, 'list') || isKind(value, 'tuple')) {
      for (const [index, item] of value.items.entries()) enter(index, item);
    } else if (isKind(value, 'object') && value.value.kind === 'tensor') {
      if (tensors.has(name)) throw new TensorError('checkpoint-malformed', `the checkpoint has two tensors named "${name}"`);
      tensors.set(name, readTensor(name, value.value, readStorage, budget));
    }
  };
  visit(root, '', 0);
  return tensors;
}

function isName(key: TorchValue): key is string | number | bigint | boolean {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof key);
}

function readTensor(name: string, tensor: TensorRef, readStorage: ReadStorage, budget: { bytes: number }): RawTensor {
  const itemBytes = DTYPES[tensor.dtype].bits / 8;
  const storage = readStorageOf(name, tensor.storage, readStorage);
  checkBounds(name, tensor, BigInt(Math.floor(storage.length / itemBytes)));
  const count = tensor.dims.reduce((product, dim) => product * dim, 1n);
  if (count === 0n) return makeRawTensor(tensor.dtype, tensor.dims.map(Number), new Uint8Array(0));
  const view = { itemBytes, offset: Number(tensor.offset), dims: tensor.dims.map(Number), strides: tensor.strides.map(Number) };
  const sizeBytes = count * BigInt(itemBytes);
  if (isContiguous(view)) {
    const start = view.offset * itemBytes;
    return makeRawTensor(tensor.dtype, view.dims, storage.subarray(start, start + Number(sizeBytes)));
  }
  if (sizeBytes > BigInt(budget.bytes)) {
    throw new TensorError(
      'tensor-too-large',
      `tensor "${name}" [${tensor.dims.join(', ')}] needs ${sizeBytes} bytes when copied, but only ${budget.bytes} are left in the budget`,
    );
  }
  budget.bytes -= Number(sizeBytes);
  return makeRawTensor(tensor.dtype, view.dims, makeStridedCopy(storage, view));
}

/** The declared bytes of a storage, from the start of its view on. */
function readStorageOf(name: string, storage: StorageRef, readStorage: ReadStorage): Uint8Array {
  const bytes = readStorage(storage);
  const itemBytes = BigInt(DTYPES[storage.dtype].bits / 8);
  const [start, end] = [storage.start * itemBytes, storage.count * itemBytes];
  if (storage.count < 0n || end > BigInt(bytes.length)) {
    throw new TensorError(
      'storage-size',
      `tensor "${name}": storage data/${storage.key} is declared with ${storage.count} ${storage.dtype} (${end} bytes), but its record has ${bytes.length} bytes`,
    );
  }
  if (start < 0n || start > end)
    throw new TensorError('tensor-bounds', `tensor "${name}": its view starts outside storage data/${storage.key}`);
  return bytes.subarray(Number(start), Number(end));
}

function checkBounds(name: string, { offset, dims, strides }: TensorRef, stored: bigint): void {
  const shape = `[${dims.join(', ')}]`;
  if (dims.length !== strides.length || [offset, ...dims, ...strides].some(number => number < 0n)) {
    throw new TensorError('tensor-bounds', `tensor "${name}" ${shape}: offset, dims and strides must be ≥ 0, with as many strides as dims`);
  }
  const last = dims.reduce((sum, dim, axis) => sum + (dim - 1n) * (strides[axis] ?? 0n), offset);
  if (dims.every(dim => dim > 0n) && last >= stored) {
    throw new TensorError('tensor-bounds', `tensor "${name}" ${shape} needs element ${last} of a storage with ${stored} elements`);
  }
}
