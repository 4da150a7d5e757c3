/** The NumPy .npz format: named .npy arrays in a zip archive. */
import { writeFile } from 'node:fs/promises';
import type { Tensor } from '../tensor.js';
import { TensorError } from '../tensor-error.js';
import { readFileBytes } from './file-bytes.js';
import { decodeNpy, encodeNpy } from './npy.js';
import { encodeZip, openZip, readZipEntry } from './zip-archive.js';

/** A .npz archive whose arrays are decoded on access. */
export interface NpzArchive {
  /** Names of the arrays, in the order of the archive. */
  readonly names: readonly string[];
  /** @throws TensorError `array-missing`, and those of `decodeNpy` and `readZipEntry`. */
  get(name: string): Tensor;
  /** The data of a float32 array. @throws TensorError `array-dtype` for other dtypes, and those of `get`. */
  getFloat32(name: string): Tensor<'float32'>;
}

/** Opens an archive, stored or deflated. @throws TensorError of `openZip`. */
export function decodeNpz(bytes: Uint8Array): NpzArchive {
  const zip = openZip(bytes, 'keys');
  const entries = new Map([...zip.entries.values()].map(entry => [entry.name.replace(/\.npy$/, ''), entry]));
  const get = (name: string): Tensor => {
    const entry = entries.get(name);
    if (entry === undefined)
      throw new TensorError('array-missing', `the archive has no array "${name}"; its arrays are ${[...entries.keys()].join(', ')}`);
    return decodeNpy(readZipEntry(zip, entry, { crc: 'check' }));
  };
  return {
    names: [...entries.keys()],
    get,
    getFloat32(name) {
      const tensor = get(name);
      if (tensor.dtype !== 'float32') throw new TensorError('array-dtype', `array "${name}" is ${tensor.dtype}, expected float32`);
      return tensor;
    },
  };
}

/** An uncompressed archive with fixed times and the given order: equal input gives equal bytes. */
export function encodeNpz(arrays: Readonly<Record<string, Tensor>> | ReadonlyMap<string, Tensor>): Uint8Array {
  const pairs = arrays instanceof Map ? [...arrays] : Object.entries(arrays as Readonly<Record<string, Tensor>>);
  return encodeZip(
    pairs.map(([name, tensor]) => [`${name}.npy`, encodeNpy(tensor)] as const),
    'keys',
  );
}

/** @throws TensorError `file-missing`, `file-unreadable`, and those of `decodeNpz`. */
export async function readNpz(path: string): Promise<NpzArchive> {
  return decodeNpz(await readFileBytes(path));
}

export async function writeNpz(path: string, arrays: Readonly<Record<string, Tensor>> | ReadonlyMap<string, Tensor>): Promise<void> {
  await writeFile(path, encodeNpz(arrays));
}
