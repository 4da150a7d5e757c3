/** Values that wait for later nodes, in memory and in files. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ValueId } from '../../../src/onnx/ir/model.js';
import { openWaitingValues } from '../../../src/runtime/capture/waiting-values.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';

const ONE = 1 as ValueId;
const TWO = 2 as ValueId;
const floats = (...data: readonly number[]): Tensor => makeTensor('float32', [data.length], Float32Array.from(data));

describe('waiting values', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waiting-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const files = (): readonly string[] => readdirSync(folder).sort();

  it.each([0, 8, 12, 1000])('are the same with %d bytes of memory', async memory => {
    const store = openWaitingValues(folder, memory);
    await store.put(ONE, 0, floats(1, 2));
    await store.put(ONE, 1, floats(3));
    await store.put(TWO, 0, makeTensor('int64', [], BigInt64Array.of(-5n)));
    await store.put(ONE, 0, floats(7, 8, 9));
    expect(await store.get(ONE, 0)).toEqual(floats(7, 8, 9));
    expect(await store.get(ONE, 1)).toEqual(floats(3));
    expect(await store.get(TWO, 0)).toEqual(makeTensor('int64', [], BigInt64Array.of(-5n)));
    for (const [id, sample] of [
      [ONE, 0],
      [ONE, 1],
      [TWO, 0],
    ] as const)
      await store.remove(id, sample);
    expect(files()).toEqual([]);
  });

  it('use files only beyond the budget, and memory again when a value has gone', async () => {
    const store = openWaitingValues(folder, 8);
    await store.put(ONE, 0, floats(1, 2));
    await store.put(ONE, 1, floats(3));
    expect(files()).toEqual([`${ONE}-1.npy`]);
    await store.remove(ONE, 0);
    await store.put(TWO, 0, floats(4, 5));
    expect(files()).toEqual([`${ONE}-1.npy`]);
  });

  it('of text are files', async () => {
    const store = openWaitingValues(folder, 1000);
    await store.put(ONE, 0, makeTensor('string', [1], ['word']));
    expect(files()).toEqual([`${ONE}-0.npy`]);
    expect((await store.get(ONE, 0)).data).toEqual(['word']);
  });

  it('stay in memory as they replace each other', async () => {
    const store = openWaitingValues(folder, 8);
    for (let round = 0; round < 3; round++) await store.put(ONE, 0, floats(round, round));
    expect(files()).toEqual([]);
    expect(await store.get(ONE, 0)).toEqual(floats(2, 2));
  });
});
