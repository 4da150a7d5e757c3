/** Decoding of both formats of `torch.save` without running code. Source: torch/serialization.py. */

import { DTYPES } from '../dtype.js';
import type { RawTensor } from '../tensor.js';
import { TensorError } from '../tensor-error.js';
import { ByteCursor } from './byte-cursor.js';
import { decodePickle } from './pickle.js';
import { isKind, type PickleValue } from './pickle-value.js';
import { type StorageRef, type TorchObject, type TorchValue, torchHooks } from './torch-pickle.js';
import { collectTensors } from './torch-tensors.js';
import { openZip, readZipEntry } from './zip-archive.js';

/** The magic number of the legacy format as a pickle: protocol 2, a ten-byte integer. */
export const LEGACY_MAGIC = [0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e] as const;

const LEGACY_PROTOCOL = 1001;

/**
 * The tensors of a zip checkpoint (torch ≥ 1.6), with names joined with dots.
 * @throws TensorError `torchscript`, `entry-name`, `unsafe-global`, `whole-module`, `truncated`, `storage-size`, `tensor-bounds`, `tensor-too-large`, `byte-order`, `checkpoint-malformed`, and those of `openZip`.
 */
export function decodeTorchZip(bytes: Uint8Array): Map<string, RawTensor> {
  const zip = openZip(bytes);
  const root = findRoot([...zip.entries.keys()]);
  const read = (record: string): Uint8Array | undefined => {
    const entry = zip.entries.get(`${root}/${record}`);
    return entry === undefined ? undefined : readZipEntry(zip, entry, { crc: 'ignore' });
  };
  if ([...zip.entries.keys()].some(name => name === `${root}/constants.pkl` || name.startsWith(`${root}/code/`))) {
    throw new TensorError('torchscript', 'the file is a TorchScript archive, a program with its weights; save model.state_dict() instead');
  }
  const pickle = read('data.pkl');
  if (pickle === undefined) throw malformed(`the archive has no record ${root}/data.pkl`);
  const order = read('byteorder');
  checkByteOrder(order === undefined ? 'little' : Buffer.from(order).toString('latin1'));
  const { value } = decodePickle(pickle, torchHooks);
  const records = new Map<string, Uint8Array>();
  const readStorage = ({ key }: StorageRef): Uint8Array => {
    const record = records.get(key) ?? read(`data/${key}`);
    if (record === undefined) throw new TensorError('truncated', `the archive has no record data/${key}`);
    records.set(key, record);
    return record;
  };
  return collectTensors(value, readStorage, bytes.length);
}

/** The tensors of a legacy checkpoint (torch < 1.6, or `_use_new_zipfile_serialization=False`). @throws TensorError as `decodeTorchZip`. */
export function decodeTorchLegacy(bytes: Uint8Array): Map<string, RawTensor> {
  const magic = decodePickle(bytes, torchHooks);
  const protocol = decodePickle(bytes, torchHooks, magic.end);
  if (protocol.value !== LEGACY_PROTOCOL)
    throw malformed(`the legacy format has protocol ${String(protocol.value)}; only ${LEGACY_PROTOCOL} is supported`);
  const system = decodePickle(bytes, torchHooks, protocol.end);
  checkByteOrder(findEntry(system.value, 'little_endian') === false ? 'big' : 'little');
  const declared = new Map<string, StorageRef>();
  const content = decodePickle(bytes, recordingHooks(declared), system.end);
  const keys = decodePickle(bytes, torchHooks, content.end);
  const records = readLegacyRecords(new ByteCursor(bytes, 'the checkpoint', keys.end), keys.value, declared);
  const readStorage = ({ key }: StorageRef): Uint8Array => {
    const record = records.get(key);
    if (record === undefined) throw new TensorError('truncated', `the file has no record of storage data/${key}`);
    return record;
  };
  return collectTensors(content.value, readStorage, bytes.length);
}

/** A record is the number of its elements, followed by the elements; the pickle has their dtype. */
function readLegacyRecords(
  cursor: ByteCursor,
  keys: PickleValue<TorchObject>,
  declared: ReadonlyMap<string, StorageRef>,
): Map<string, Uint8Array> {
  if (!isKind(keys, 'list')) throw malformed('the list of storages is not a list');
  const records = new Map<string, Uint8Array>();
  for (const item of keys.items) {
    const key = String(item);
    const storage = declared.get(key);
    if (storage === undefined) throw malformed(`no tensor has storage ${key.slice(0, 100)}`);
    const count = cursor.takeSize();
    const size = (count * DTYPES[storage.dtype].bits) / 8;
    const left = cursor.bytes.length - cursor.position;
    if (size > left) throw new TensorError('truncated', `storage data/${key} needs ${size} bytes, but only ${left} are left in the file`);
    records.set(key, cursor.take(size));
  }
  return records;
}

/** The torch hooks, which also collect every storage by its key. */
function recordingHooks(declared: Map<string, StorageRef>): typeof torchHooks {
  return {
    ...torchHooks,
    load: id => {
      const value = torchHooks.load(id);
      if (isKind(value, 'object') && value.value.kind === 'storage') declared.set(value.value.key, value.value);
      return value;
    },
  };
}

/** The folder that contains all records. @throws TensorError `entry-name`. */
function findRoot(names: readonly string[]): string {
  const root = names[0]?.split('/')[0] ?? '';
  const outside = names.find(name => !name.startsWith(`${root}/`));
  if (outside !== undefined) throw new TensorError('entry-name', `record "${outside}" is outside the root folder "${root}" of the archive`);
  return root;
}

function findEntry(value: TorchValue, wanted: string): TorchValue | undefined {
  return isKind(value, 'dict') ? value.entries.find(([key]) => key === wanted)?.[1] : undefined;
}

function checkByteOrder(order: string): void {
  if (order.trim() !== 'little')
    throw new TensorError('byte-order', `the checkpoint is ${order.trim()}-endian; only little-endian is supported`);
}

function malformed(reason: string): TensorError {
  return new TensorError('checkpoint-malformed', `the torch checkpoint is malformed: ${reason}`);
}
