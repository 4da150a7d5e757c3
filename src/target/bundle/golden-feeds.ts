/** Inputs for golden values: captured tensors of a data set, or seeded random tensors. */
import { getValue } from '../../onnx/ir/edit.js';
import type { Model } from '../../onnx/ir/model.js';
import type { Captured } from '../../runtime/capture/captured.js';
import { makeRandomFeeds } from '../../runtime/feeds/random-feeds.js';
import { decodeRawTensor, encodeRawTensor, makeRawTensor } from '../../tensor/raw-tensor.js';
import { countElements } from '../../tensor/shape.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { TargetError } from '../report/target-error.js';
import { findQParams } from '../units/unit-facts.js';
import type { GoldenFeeds } from './golden.js';

/** `count` samples of seeded random inputs. */
export function randomGoldenFeeds(model: Model, count: number, random: (sample: number) => () => number): readonly GoldenFeeds[] {
  return Array.from({ length: count }, (_, sample) => makeRandomFeeds(model, { random: random(sample), sizes: {}, freeSize: 1 }));
}

/** Two random samples of which each value differs, for the check that the device writes every slot. Values lie in the range that the model quantizes. */
export function probeFeeds(model: Model, random: (sample: number) => () => number): readonly GoldenFeeds[] {
  const ranges = findInputRanges(model);
  return [0, 1].map(sample => {
    const next = random(sample);
    const feeds = makeRandomFeeds(model, { random: next, sizes: {}, freeSize: 1 });
    return Object.fromEntries(
      Object.entries(feeds).map(([name, tensor]) => {
        const range = ranges.get(name);
        return [name, range === undefined || tensor.dtype !== 'float32' ? tensor : fillUniform(tensor.dims, range, next)];
      }),
    );
  });
}

type Range = readonly [low: number, high: number];

/** The real values that the QuantizeLinear behind each input represents. Inputs without one, or with several scales, are left out. */
function findInputRanges(model: Model): ReadonlyMap<string, Range> {
  const ranges = new Map<string, Range>();
  for (const node of model.graph.nodes.values()) {
    const [input] = node.inputs;
    if (node.opType !== 'QuantizeLinear' || input === undefined || !model.graph.inputs.includes(input)) continue;
    const qparams = findQParams(model, node);
    const [scale] = qparams?.scales ?? [];
    const [zeroPoint] = qparams?.zeroPoints ?? [];
    const limits = INTEGER_LIMITS[qparams?.dtype ?? ''];
    if (scale === undefined || zeroPoint === undefined || limits === undefined || qparams?.axis !== undefined) continue;
    ranges.set(getValue(model.graph, input).name, [(limits[0] - zeroPoint) * scale, (limits[1] - zeroPoint) * scale]);
  }
  return ranges;
}

const INTEGER_LIMITS: Readonly<Record<string, Range>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int16: [-32_768, 32_767],
  uint16: [0, 65_535],
};

function fillUniform(dims: readonly number[], [low, high]: Range, random: () => number): Tensor {
  const length = countElements(dims);
  return makeTensor(
    'float32',
    dims,
    Float32Array.from({ length }, () => low + random() * (high - low)),
  );
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
