/** Inputs for golden values: captured tensors of a data set, or seeded random tensors. */
import { getValue } from '../../onnx/ir/edit.js';
import type { Model } from '../../onnx/ir/model.js';
import type { Captured } from '../../runtime/capture/captured.js';
import { makeRandomFeeds } from '../../runtime/feeds/random-feeds.js';
import { decodeRawTensor, encodeRawTensor, makeRawTensor } from '../../tensor/raw-tensor.js';
import type { Tensor } from '../../tensor/tensor.js';
import { TargetError } from '../report/target-error.js';
import type { GoldenFeeds } from './golden.js';

/** `count` samples of seeded random inputs. */
export function randomGoldenFeeds(model: Model, count: number, random: (sample: number) => () => number): readonly GoldenFeeds[] {
  return Array.from({ length: count }, (_, sample) => makeRandomFeeds(model, { random: random(sample), sizes: {}, freeSize: 1 }));
}

/**
 * The first `count` samples of a captured part. A model with a fixed batch gets that many rows from consecutive samples, starting over at the first
 * if there are too few. Rows are always real data, never padding.
 * @throws TargetError `golden-inputs` if the capture does not fit the model; RuntimeError and TensorError of reading.
 */
export async function capturedGoldenFeeds(model: Model, captured: Captured, part: string, count: number): Promise<readonly GoldenFeeds[]> {
  const inputs = inputsOf(model);
  const feeds: GoldenFeeds[] = [];
  const rows = new Map<string, Tensor[]>(inputs.map(({ name }) => [name, []]));
  for (const sample of captured.index.samples) {
    if (feeds.length === count) break;
    if ((sample.parts[part]?.rows ?? 0) === 0) continue;
    const tensors = await captured.read(sample, part, 'input');
    for (const { name } of inputs) {
      const tensor = tensors[name];
      if (tensor === undefined) throw cannotFeed(part, `input "${name}" is missing`);
      rows.get(name)?.push(tensor);
    }
    const isFull = inputs.every(({ name, dims }) => countRows(rows.get(name) ?? []) >= (dims[0] ?? 1));
    if (!isFull) continue;
    feeds.push(Object.fromEntries(inputs.map(input => [input.name, takeRows(part, input, rows.get(input.name) ?? [])])));
    for (const { name } of inputs) rows.set(name, []);
  }
  const left = inputs.some(({ name }) => (rows.get(name)?.length ?? 0) > 0);
  if (feeds.length < count && left)
    feeds.push(Object.fromEntries(inputs.map(input => [input.name, takeRows(part, input, rows.get(input.name) ?? [])])));
  if (feeds.length === 0) throw cannotFeed(part, 'no sample has rows for this part');
  return feeds;
}

interface ModelInput {
  readonly name: string;
  readonly dtype: string | undefined;
  readonly dims: readonly number[];
}

function inputsOf({ graph }: Model): readonly ModelInput[] {
  const values = graph.inputs.map(id => getValue(graph, id)).filter(value => value.constant === undefined);
  return values.map(({ name, type }) => {
    const tensor = type?.kind === 'tensor' ? type : undefined;
    return { name, dtype: tensor?.dtype, dims: (tensor?.dims ?? []).map(dim => (typeof dim === 'number' ? dim : 1)) };
  });
}

function countRows(tensors: readonly Tensor[]): number {
  return tensors.reduce((sum, { dims }) => sum + (dims[0] ?? 1), 0);
}

/** As many rows as the model takes, from consecutive tensors, starting over at the first one. */
function takeRows(part: string, { name, dtype, dims }: ModelInput, tensors: readonly Tensor[]): Tensor {
  const raws = tensors.map(encodeRawTensor);
  const [first] = raws;
  const wanted = dims[0] ?? 1;
  if (first === undefined) throw cannotFeed(part, `input "${name}" has no rows`);
  const fits =
    first.dtype === dtype && first.dims.length === dims.length && dims.every((dim, axis) => axis === 0 || dim === first.dims[axis]);
  if (!fits)
    throw cannotFeed(part, `input "${name}" is ${first.dtype} [${first.dims.join(', ')}], the model expects ${dtype} [${dims.join(', ')}]`);
  const rowBytes = first.bytes.byteLength / (first.dims[0] ?? 1);
  const all = Buffer.concat(raws.map(({ bytes }) => bytes));
  const there = all.byteLength / rowBytes;
  const taken = Buffer.from(new ArrayBuffer(wanted * rowBytes));
  for (let row = 0; row < wanted; row++) taken.set(all.subarray((row % there) * rowBytes, ((row % there) + 1) * rowBytes), row * rowBytes);
  return decodeRawTensor(makeRawTensor(first.dtype, dims, taken));
}

function cannotFeed(part: string, reason: string): TargetError {
  return new TargetError('golden-inputs', `the captured tensors of "${part}" cannot be golden inputs: ${reason}`, {
    help: 'connect the capture of the compiled models, or remove the input to use random golden inputs',
  });
}
