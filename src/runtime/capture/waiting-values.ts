/** Values of samples that wait for later nodes: in memory while they fit a budget, otherwise in files. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ValueId } from '../../onnx/ir/model.js';
import { decodeNpy, encodeNpy } from '../../tensor/formats/npy.js';
import type { Tensor } from '../../tensor/tensor.js';

export interface WaitingValues {
  /** Replaces the value if there is one. It must not be edited any more. */
  put(id: ValueId, sample: number, value: Tensor): Promise<void>;
  get(id: ValueId, sample: number): Promise<Tensor>;
  remove(id: ValueId, sample: number): Promise<void>;
}

export function openWaitingValues(folder: string, memoryBytes: number): WaitingValues {
  const kept = new Map<string, Tensor>();
  const inFiles = new Set<string>();
  let left = memoryBytes;
  const nameOf = (id: ValueId, sample: number): string => `${id}-${sample}.npy`;
  const forget = (name: string): void => {
    const value = kept.get(name);
    if (value !== undefined) left += bytesOf(value);
    kept.delete(name);
  };
  return {
    async put(id, sample, value) {
      const name = nameOf(id, sample);
      forget(name);
      if (bytesOf(value) > left || inFiles.has(name)) {
        inFiles.add(name);
        await writeFile(join(folder, name), encodeNpy(value));
      } else {
        left -= bytesOf(value);
        kept.set(name, value);
      }
    },
    async get(id, sample) {
      const name = nameOf(id, sample);
      return kept.get(name) ?? decodeNpy(await readFile(join(folder, name)));
    },
    async remove(id, sample) {
      const name = nameOf(id, sample);
      forget(name);
      if (inFiles.delete(name)) await rm(join(folder, name));
    },
  };
}

/** Text has no size of its own here and waits in files. */
function bytesOf({ data }: Tensor): number {
  return ArrayBuffer.isView(data) ? data.byteLength : Number.POSITIVE_INFINITY;
}
