/** Runs models up to one value on a captured sample, in a process of its own: the memory of the runtime goes when it ends. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { assertNever } from '../../base/assert-never.js';
import { getDefined } from '../../base/invariant.js';
import { findImageInputs } from '../../detection/data/image-inputs.js';
import { decodeImage } from '../../detection/image/decode-image.js';
import { readNetworkFeeds } from '../../detection/image-network.js';
import { openDetector } from '../../detection/open-detector.js';
import { readDefinition } from '../../detection/read-definition.js';
import type { Model } from '../../onnx/ir/model.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import { readModel } from '../../onnx/serde/model-file.js';
import { extractSubgraph } from '../../onnx/surgery/extract.js';
import { matchValues } from '../../quant/compare/match-values.js';
import { openCaptured } from '../../runtime/capture/captured.js';
import { findCapturedPart, matchCapturedInputs } from '../../runtime/capture/captured-part.js';
import { openOutputs } from '../../runtime/capture/run-outputs.js';
import { listModelInputs, type NamedTensors } from '../../runtime/session/model-inputs.js';
import { RuntimeError } from '../../runtime/session/runtime-error.js';
import { readJsonFile } from '../../stage/json-file.js';
import { compareArrays, figuresOf } from '../../tensor/compare.js';
import type { Tensor } from '../../tensor/tensor.js';
import { answerOrder } from './answer-order.js';
import type { CapturedFeed, ImageFeed, NetworkFeed, TensorData, TensorOrder, TensorView } from './tensor-view.js';

/** More elements are no picture, and take the page seconds. */
const MOST_ELEMENTS = 8_000_000;

answerOrder(readTensors);

async function readTensors({ model: path, other: otherPath, value, fed }: TensorOrder): Promise<TensorView> {
  const model = await load(path);
  const feeds = await readFed(model, fed);
  const own = await runTo(model, value, feeds.tensors);
  const view = { dims: own.dims, samples: feeds.samples, own: encode(value, own) };
  if (otherPath === undefined) return view;
  const other = await load(otherPath);
  const name = findPartner(model, other, value);
  if (name === undefined) return { ...view, missing: `the other model has no counterpart of ${value}: it was fused or removed` };
  const partner = await runTo(other, name, renameInputs(other, feeds.tensors));
  if (partner.dims.join() !== own.dims.join())
    return { ...view, missing: `${name} has the shape [${partner.dims.join(', ')}], and ${value} has [${own.dims.join(', ')}]` };
  return { ...view, other: { ...encode(name, partner), figures: figuresOf(compareArrays(own.data, partner.data)) } };
}

async function load(path: string): Promise<Model> {
  const model = await readModel(path);
  sortTopologically(model.graph);
  return model;
}

interface Feeds {
  readonly tensors: NamedTensors;
  readonly samples: readonly string[];
}

function readFed(model: Model, fed: TensorOrder['fed']): Promise<Feeds> {
  switch (fed.kind) {
    case 'captured':
      return readFeeds(model, fed);
    case 'image':
      return feedImage(model, fed);
    case 'network':
      return feedNetwork(model, fed);
    default:
      return assertNever(fed);
  }
}

/** The image, prepared as the stage prepares it. */
async function feedNetwork(model: Model, { image, preprocess }: NetworkFeed): Promise<Feeds> {
  const { feeds } = await readNetworkFeeds(image, findImageInputs(model, preprocess).inputs, preprocess);
  return { tensors: feeds, samples: [basename(image)] };
}

async function readFeeds(model: Model, { folder, sample: index }: CapturedFeed): Promise<Feeds> {
  const captured = await openCaptured(folder);
  const inputs = listModelInputs(model);
  const part = findCapturedPart(captured.index, inputs, undefined);
  const sample = captured.index.samples[index];
  if (sample === undefined) throw new RuntimeError('too-few-samples', `there is no sample ${index + 1}`, { help: 'choose another sample' });
  const tensors = await captured.read(sample, part.name, 'input');
  const values = matchCapturedInputs(part, inputs);
  const named = inputs.flatMap(({ name }, at): readonly (readonly [string, Tensor])[] => {
    const tensor = tensors[values[at]?.name ?? ''];
    return tensor === undefined ? [] : [[name, tensor]];
  });
  return { tensors: Object.fromEntries(named), samples: captured.index.samples.map(({ id }) => String(id)) };
}

/** The inputs of the part that has the model's inputs. Parts before it run. */
async function feedImage(model: Model, { image, parts, recipe, config, fit, optimization }: ImageFeed): Promise<Feeds> {
  const files = { recipe: await readJsonFile(recipe), config: config === undefined ? undefined : await readJsonFile(config), fit };
  const detector = await openDetector(
    { definition: readDefinition(files), models: { kind: 'parts', parts } },
    { optimization: optimization ?? 'all' },
  );
  try {
    const given = await detector.findInputs(await decodeImage(await readFile(image), basename(image)));
    const inputs = listModelInputs(model).map(({ name }) => name);
    const own = Object.values(given).find(values => inputs.every(name => Object.hasOwn(values, name)));
    if (own === undefined)
      throw new RuntimeError('part-unknown', `no part of the detector has the inputs ${inputs.join(', ')}`, {
        help: 'choose a model of a part',
      });
    return { tensors: Object.fromEntries(inputs.map(name => [name, getDefined(own[name], name)])), samples: [basename(image)] };
  } finally {
    await detector.close();
  }
}

/** The counterpart in the other model, whichever of the two is the quantized one. */
function findPartner(model: Model, other: Model, value: string): string | undefined {
  const forward = matchValues(model, other).pairs.find(({ original }) => original.name === value)?.other.name;
  return forward ?? matchValues(other, model).pairs.find(pair => pair.other.name === value)?.original.name;
}

/** Both models are of one part: its inputs have one order. */
function renameInputs(model: Model, tensors: NamedTensors): NamedTensors {
  const given = Object.values(tensors);
  return Object.fromEntries(
    listModelInputs(model).flatMap(({ name }, index): readonly (readonly [string, Tensor])[] => {
      const tensor = tensors[name] ?? given[index];
      return tensor === undefined ? [] : [[name, tensor]];
    }),
  );
}

async function runTo(model: Model, value: string, tensors: NamedTensors): Promise<{ dims: readonly number[]; data: Float32Array }> {
  const given = tensors[value];
  if (given !== undefined) return asFloats(given, value);
  const inputs = listModelInputs(model).map(({ name }) => name);
  const runner = openOutputs(extractSubgraph(model, { inputs, outputs: [value] }));
  try {
    const [result] = await runner.run(tensors);
    if (result === undefined) throw new RuntimeError('model-run', `${value} was not computed`);
    return asFloats(result, value);
  } finally {
    await runner.close();
  }
}

/** Integers of quantized values are shown as numbers too. */
function asFloats({ dtype, dims, data }: Tensor, value: string): { dims: readonly number[]; data: Float32Array } {
  if (dtype === 'float32') return { dims, data };
  if (dtype === 'int8' || dtype === 'uint8' || dtype === 'int16' || dtype === 'uint16' || dtype === 'int32' || dtype === 'bool')
    return { dims, data: Float32Array.from(data) };
  if (dtype === 'int64') return { dims, data: Float32Array.from(data, Number) };
  throw new RuntimeError('model-run', `${value} is ${dtype}, which the page does not draw`, { help: 'choose another value' });
}

function encode(value: string, { data }: { readonly data: Float32Array }): TensorData {
  if (data.length > MOST_ELEMENTS)
    throw new RuntimeError('model-run', `${value} has ${data.length} elements; the page draws at most ${MOST_ELEMENTS}`, {
      help: 'choose another value',
    });
  return { value, base64: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64') };
}
