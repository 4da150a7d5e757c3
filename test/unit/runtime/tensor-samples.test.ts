/** Samples from tensor files and folders. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listTensorSamples } from '../../../src/runtime/feeds/tensor-samples.js';
import type { ModelInput } from '../../../src/runtime/session/model-inputs.js';
import { encodeNpy } from '../../../src/tensor/formats/npy.js';
import { encodeNpz } from '../../../src/tensor/formats/npz.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder } from '../../support/run-stage.js';

const folder = givenFolder('tensor-samples');

const floats = (dims: readonly number[], first = 0) => {
  const length = dims.reduce((product, dim) => product * dim, 1);
  return makeTensor(
    'float32',
    dims,
    Float32Array.from({ length }, (_, i) => first + i),
  );
};

const X: ModelInput = { name: 'x', dtype: 'float32', dims: [1, 2] };
const FREE: ModelInput = { name: 'x', dtype: 'float32', dims: ['n', 2] };
const SIZE: ModelInput = { name: 'size', dtype: 'int64', dims: [2] };

/** A TensorProto written by hand: dims 1 and 2, float32, name "other", raw data 5 and 6. Source: onnx.proto. */
const PROTO = Uint8Array.from([
  ...[0x08, 1, 0x08, 2, 0x10, 1, 0x42, 5, ...Buffer.from('other'), 0x4a, 8],
  ...new Uint8Array(Float32Array.of(5, 6).buffer),
]);

let made = 0;
async function folderOf(files: Readonly<Record<string, Uint8Array>>): Promise<string> {
  const path = join(folder.path, `set-${made++}`);
  for (const [name, bytes] of Object.entries(files)) {
    await mkdir(join(path, name, '..'), { recursive: true });
    await writeFile(join(path, name), bytes);
  }
  await mkdir(path, { recursive: true });
  return path;
}

async function readAll(path: string, inputs: readonly ModelInput[]): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const { id, source, read } of await listTensorSamples(path, inputs)) {
    const tensors = Object.entries(await read()).map(([name, { data }]) => [name, ...Array.from(data, Number)]);
    found.push([id, source, ...tensors]);
  }
  return found;
}

describe('samples of tensor files', () => {
  it('a folder gives its files and folders sorted by name, and ignores other files', async () => {
    const path = await folderOf({
      'b.npz': encodeNpz({ x: floats([1, 2], 10), label: floats([1]) }),
      'a.npy': encodeNpy(floats([1, 2], 20)),
      'c/d.npz': encodeNpz({ 'input:x': floats([1, 2], 30) }),
      'readme.txt': new Uint8Array(3),
      'test_data_set_0/input_0.pb': PROTO,
      'test_data_set_0/output_0.pb': PROTO,
    });
    expect(await readAll(path, [X])).toEqual([
      ['a.npy', 'a.npy', ['x', 20, 21]],
      ['b.npz', 'b.npz', ['x', 10, 11]],
      ['c/d.npz', 'c/d.npz', ['x', 30, 31]],
      ['test_data_set_0', 'test_data_set_0', ['x', 5, 6]],
    ]);
  });

  it('one file, or one ONNX test folder, is a sample', async () => {
    const path = await folderOf({ 'a.npy': encodeNpy(floats([1, 2])), 't/input_0.pb': PROTO });
    expect(await readAll(join(path, 'a.npy'), [X])).toEqual([['a.npy', 'a.npy', ['x', 0, 1]]]);
    expect(await readAll(join(path, 't'), [X])).toEqual([['t', 't', ['x', 5, 6]]]);
  });

  it('each batch of a fixed size is a sample; a free batch is one sample', async () => {
    const path = await folderOf({ 'a.npy': encodeNpy(floats([3, 2])) });
    expect(await readAll(path, [X])).toEqual([
      ['a.npy#0', 'a.npy', ['x', 0, 1]],
      ['a.npy#1', 'a.npy', ['x', 2, 3]],
      ['a.npy#2', 'a.npy', ['x', 4, 5]],
    ]);
    expect(await readAll(path, [FREE])).toEqual([['a.npy', 'a.npy', ['x', 0, 1, 2, 3, 4, 5]]]);
  });

  it('several inputs, of several dtypes', async () => {
    const size = makeTensor('int64', [2], BigInt64Array.of(4n, 9n));
    const path = await folderOf({ 'a.npz': encodeNpz({ size, x: floats([1, 2]) }) });
    expect(await readAll(path, [X, SIZE])).toEqual([['a.npz', 'a.npz', ['x', 0, 1], ['size', 4, 9]]]);
  });

  const pb = { 'input_0.pb': PROTO };
  it.each<[string, Readonly<Record<string, Uint8Array>>, readonly ModelInput[], string, RegExp]>([
    ['nothing to read', { 'a.txt': new Uint8Array(1) }, [X], 'no-samples', /no tensors/],
    ['another name', { 'a.npz': encodeNpz({ y: floats([1, 2]) }) }, [X], 'sample-mismatch', /^a\.npz: .*"x"; it has y/],
    ['another shape', { 'a.npy': encodeNpy(floats([1, 3])) }, [X], 'sample-mismatch', /^a\.npy: .*\[1, 3\], the model expects \[1, 2\]/],
    ['another rank', { 'a.npy': encodeNpy(floats([2])) }, [FREE], 'sample-mismatch', /\[2\], the model expects \[n, 2\]/],
    ['another dtype', { 'a.npy': encodeNpy(floats([2])) }, [SIZE], 'sample-mismatch', /float32, the model expects int64/],
    ['one array for two inputs', { 'a.npy': encodeNpy(floats([1, 2])) }, [X, SIZE], 'sample-mismatch', /2 inputs: x, size/],
    ['a cut array', { 'a.npy': encodeNpy(floats([1, 2])).subarray(0, 130) }, [X], 'truncated', /npy/],
    ['a truncated tensor', { 'input_0.pb': PROTO.subarray(0, 20) }, [X], 'tensor-malformed', /TensorProto/],
    ['what is no tensor', { 'input_0.pb': Buffer.from('hello') }, [X], 'tensor-malformed', /TensorProto/],
    ['a missing second input', pb, [X, SIZE], 'file-missing', /input_1\.pb/],
    ['a tensor of another shape', pb, [{ ...X, dims: [1, 4] }], 'sample-mismatch', /\[1, 2\], the model expects \[1, 4\]/],
  ])('%s is refused', async (_what, files, inputs, code, message) => {
    const path = await folderOf(files);
    const failure = await failureOf(() => readAll(path, inputs));
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(failure.message).not.toContain(folder.path);
  });
});
