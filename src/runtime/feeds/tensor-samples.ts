/** Lists the samples in tensor files: `.npz` and `.npy` arrays, and folders of ONNX tensors. */
import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { readTensorFile } from '../../onnx/serde/tensor-file.js';
import { readFileBytes } from '../../tensor/formats/file-bytes.js';
import { decodeNpy } from '../../tensor/formats/npy.js';
import { readNpz } from '../../tensor/formats/npz.js';
import { sliceRows } from '../../tensor/rows.js';
import type { Tensor } from '../../tensor/tensor.js';
import { type ModelInput, mismatch, type NamedTensors, pickFeeds } from '../session/model-inputs.js';
import { RuntimeError } from '../session/runtime-error.js';
import type { ModelSample } from './model-sample.js';

/**
 * The samples of a file or folder, sorted by name:
 * - `x.npz`: one array per input, by its name (or `input:NAME`); `x.npy`: the array of a model's only input. If the model fixes the first size of every
 *   input and the arrays hold a multiple of it, each batch is a sample.
 * - a folder with `input_0.pb`, `input_1.pb`, …: one sample, each file a TensorProto, in the order of the model's inputs.
 * - any other folder: the samples of its entries; files of other kinds are ignored.
 *
 * Tensors are read with `ModelSample.read`. @throws RuntimeError `no-samples`, `sample-mismatch`; TensorError and OnnxError of damaged files.
 */
export async function listTensorSamples(path: string, inputs: readonly ModelInput[]): Promise<readonly ModelSample[]> {
  const samples = (await stat(path)).isDirectory() ? await listFolder(path, '', inputs) : await listFile(path, basename(path), inputs);
  if (samples.length > 0) return samples;
  throw new RuntimeError('no-samples', `"${basename(path)}" has no tensors: no .npz, no .npy, no folder with input_0.pb`, {
    help: 'connect a folder with such files, or one .npz or .npy file',
  });
}

/** `test_data_set_0/input_0.pb` is the layout of ONNX's own test data. */
async function listFolder(root: string, under: string, inputs: readonly ModelInput[]): Promise<ModelSample[]> {
  const entries = await readdir(join(root, under), { withFileTypes: true });
  const names = entries.map(entry => entry.name).sort();
  if (names.includes('input_0.pb')) return [protoSample(root, under, inputs)];
  const samples: ModelSample[] = [];
  for (const name of names) {
    const relative = under === '' ? name : `${under}/${name}`;
    const isFolder = entries.some(entry => entry.name === name && entry.isDirectory());
    samples.push(...(isFolder ? await listFolder(root, relative, inputs) : await listFile(join(root, relative), relative, inputs)));
  }
  return samples;
}

async function listFile(path: string, source: string, inputs: readonly ModelInput[]): Promise<ModelSample[]> {
  const extension = extname(path).toLowerCase();
  if (extension !== '.npz' && extension !== '.npy') return [];
  const read = extension === '.npz' ? () => readArchive(path, inputs, source) : () => readArray(path, inputs, source);
  const batches = countBatches(inputs, await read());
  if (batches === 1) return [{ id: source, source, read: async () => pickFeeds(inputs, await read(), source) }];
  return Array.from({ length: batches }, (_, batch) => ({
    id: `${source}#${batch}`,
    source,
    read: async () => pickFeeds(inputs, takeBatch(inputs, await read(), batch), `${source}, batch ${batch}`),
  }));
}

/** Number of runs: the common multiple of the first sizes that the model fixes; 1 if there is none. */
function countBatches(inputs: readonly ModelInput[], tensors: NamedTensors): number {
  const counts = inputs.map(({ name, dims }) => {
    const [size, rows = 0] = [dims?.[0], tensors[name]?.dims[0]];
    return typeof size === 'number' && size > 0 && tensors[name]?.dtype !== 'string' ? rows / size : 1;
  });
  const [first = 1] = counts;
  return Number.isInteger(first) && first > 1 && counts.every(count => count === first) ? first : 1;
}

function takeBatch(inputs: readonly ModelInput[], tensors: NamedTensors, batch: number): NamedTensors {
  return Object.fromEntries(
    inputs.flatMap(({ name, dims }) => {
      const [size, tensor] = [dims?.[0], tensors[name]];
      return tensor === undefined || typeof size !== 'number' ? [] : [[name, sliceRows(tensor, batch * size, size)] as const];
    }),
  );
}

async function readArchive(path: string, inputs: readonly ModelInput[], source: string): Promise<NamedTensors> {
  const archive = await readNpz(path);
  const found = inputs.map(({ name }) => [name, [name, `input:${name}`].find(one => archive.names.includes(one))] as const);
  const missing = found.filter(([, array]) => array === undefined).map(([name]) => `"${name}"`);
  if (missing.length > 0) {
    throw mismatch(source, `the archive has no array for input ${missing.join(', ')}; it has ${archive.names.join(', ')}`);
  }
  return Object.fromEntries(found.map(([name, array]) => [name, archive.get(array ?? '')]));
}

async function readArray(path: string, inputs: readonly ModelInput[], source: string): Promise<NamedTensors> {
  const [input, ...others] = inputs;
  if (input === undefined || others.length > 0) {
    throw mismatch(
      source,
      `a .npy file holds one array, but the model has ${inputs.length} inputs: ${inputs.map(({ name }) => name).join(', ')}`,
    );
  }
  return { [input.name]: decodeNpy(await readFileBytes(path)) };
}

function protoSample(root: string, under: string, inputs: readonly ModelInput[]): ModelSample {
  const source = under === '' ? basename(root) : under;
  return {
    id: source,
    source,
    async read() {
      const tensors: [string, Tensor][] = [];
      for (const [index, { name }] of inputs.entries()) {
        tensors.push([name, (await readTensorFile(join(root, under, `input_${index}.pb`))).tensor]);
      }
      return pickFeeds(inputs, Object.fromEntries(tensors), source);
    },
  };
}
