/** Builders of ONNX nodes for single PyTorch modules. Nodes are named by module path, initializers are shared, and shapes are tracked. */
import { getDefined } from '../../base/invariant.js';
import { float, int, ints, string } from '../../onnx/ir/attribute.js';
import { addInitializer, addInput, addNode, addValue, makeModel } from '../../onnx/ir/edit.js';
import type { Attribute, Dim, Model, ValueId } from '../../onnx/ir/model.js';
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import type { StateDict } from './state-dict.js';

/** A model being built from a state dict. Initializers are named by their keys and are shared. */
export interface ModelBuilder {
  readonly model: Model;
  readonly state: StateDict;
  readonly initializers: Map<string, ValueId>;
}

/** A float32 value with its shape. Only the batch dim of a head may be symbolic. */
export interface Flow {
  readonly id: ValueId;
  readonly dims: readonly Dim[];
}

/** The module of a node in the state dict, and the names of node and value where they differ from the module path. */
export interface Place {
  readonly module: string;
  readonly node?: string;
  readonly value?: string;
}

export function startModel(state: StateDict, graphName: string, opset: number): ModelBuilder {
  return { model: makeModel({ opset, graphName }), state, initializers: new Map() };
}

export function input(builder: ModelBuilder, name: string, dims: readonly Dim[]): Flow {
  const value = addInput(builder.model, builder.model.graph, name, { kind: 'tensor', dtype: 'float32', dims });
  return { id: value.id, dims };
}

export function markOutput(builder: ModelBuilder, flow: Flow): void {
  builder.model.graph.outputs.push(flow.id);
}

/** Conv2d with square kernel, stride and padding, and a bias where the state dict has one. */
export function conv(builder: ModelBuilder, x: Flow, place: Place, options: { stride?: number; padding: number }): Flow {
  const { stride = 1, padding } = options;
  const [channels, , kernel = 1] = dimsOf(builder, `${place.module}.weight`);
  const side = (dim: Dim): Dim => (typeof dim === 'number' ? Math.floor((dim + 2 * padding - kernel) / stride) + 1 : dim);
  const attributes = {
    dilations: ints([1, 1]),
    group: int(1),
    kernel_shape: ints([kernel, kernel]),
    pads: ints([padding, padding, padding, padding]),
    strides: ints([stride, stride]),
  };
  return emit(
    builder,
    'Conv',
    place,
    [x.id, ...weightAndBias(builder, place.module)],
    [x.dims[0], channels, side(x.dims[2]), side(x.dims[3])],
    attributes,
  );
}

/** ConvTranspose2d without padding whose kernel size equals its stride: every input cell becomes one block. */
export function convTranspose(builder: ModelBuilder, x: Flow, place: Place): Flow {
  const [, channels, kernel = 1] = dimsOf(builder, `${place.module}.weight`);
  const side = (dim: Dim): Dim => (typeof dim === 'number' ? dim * kernel : dim);
  const attributes = {
    dilations: ints([1, 1]),
    group: int(1),
    kernel_shape: ints([kernel, kernel]),
    pads: ints([0, 0, 0, 0]),
    strides: ints([kernel, kernel]),
  };
  const dims = [x.dims[0], channels, side(x.dims[2]), side(x.dims[3])];
  return emit(builder, 'ConvTranspose', place, [x.id, ...weightAndBias(builder, place.module)], dims, attributes);
}

/** BatchNorm2d with running statistics, trained or frozen. */
export function batchNorm(builder: ModelBuilder, x: Flow, place: Place, epsilon: number): Flow {
  const leaves = ['weight', 'bias', 'running_mean', 'running_var'];
  const constants = leaves.map(leaf => initializer(builder, `${place.module}.${leaf}`));
  return emit(builder, 'BatchNormalization', place, [x.id, ...constants], x.dims, { epsilon: float(epsilon) });
}

/** Linear: x · Wᵀ + b. */
export function linear(builder: ModelBuilder, x: Flow, place: Place): Flow {
  const [features] = dimsOf(builder, `${place.module}.weight`);
  return emit(builder, 'Gemm', place, [x.id, ...weightAndBias(builder, place.module)], [x.dims[0], features], { transB: int(1) });
}

export function relu(builder: ModelBuilder, x: Flow, place: Place): Flow {
  return emit(builder, 'Relu', place, [x.id], x.dims);
}

/** x where x is positive, else slope · x. */
export function leakyRelu(builder: ModelBuilder, x: Flow, place: Place, slope: number): Flow {
  return emit(builder, 'LeakyRelu', place, [x.id], x.dims, { alpha: float(slope) });
}

export function add(builder: ModelBuilder, a: Flow, b: Flow, place: Place): Flow {
  return emit(builder, 'Add', place, [a.id, b.id], a.dims);
}

/** Concatenation along the channel axis. */
export function concat(builder: ModelBuilder, parts: readonly [Flow, ...Flow[]], place: Place): Flow {
  const [batch, , ...sides] = parts[0].dims;
  const channels = parts.reduce((sum, { dims: [, dim] }) => sum + (typeof dim === 'number' ? dim : 0), 0);
  const ids = parts.map(({ id }) => id);
  return emit(builder, 'Concat', place, ids, [batch, channels, ...sides], { axis: int(1) });
}

/** Merges all axes except the first. */
export function flatten(builder: ModelBuilder, x: Flow, place: Place): Flow {
  const size = x.dims.slice(1).reduce((product: number, dim) => product * (typeof dim === 'number' ? dim : 0), 1);
  return emit(builder, 'Flatten', place, [x.id], [x.dims[0], size], { axis: int(1) });
}

export function maxPool(
  builder: ModelBuilder,
  x: Flow,
  place: Place,
  { kernel, stride, padding }: { kernel: number; stride: number; padding: number },
): Flow {
  const side = (dim: Dim): Dim => (typeof dim === 'number' ? Math.floor((dim + 2 * padding - kernel) / stride) + 1 : dim);
  const attributes = {
    kernel_shape: ints([kernel, kernel]),
    pads: ints([padding, padding, padding, padding]),
    strides: ints([stride, stride]),
  };
  return emit(builder, 'MaxPool', place, [x.id], [x.dims[0], x.dims[1], side(x.dims[2]), side(x.dims[3])], attributes);
}

/** interpolate(mode='nearest') to the size of `like`: cell i takes floor(i · from / to). */
export function resizeNearestLike(builder: ModelBuilder, x: Flow, like: Flow, place: Place): Flow {
  return resize(builder, x, [like.dims[2], like.dims[3]], place, {
    coordinate_transformation_mode: string('asymmetric'),
    mode: string('nearest'),
    nearest_mode: string('floor'),
  });
}

/** interpolate(mode='bilinear', align_corners=False) to height and width `to`: half-pixel centers, no antialiasing. */
export function resizeBilinear(builder: ModelBuilder, x: Flow, to: readonly [Dim, Dim], place: Place): Flow {
  return resize(builder, x, to, place, { coordinate_transformation_mode: string('half_pixel'), mode: string('linear') });
}

function resize(
  builder: ModelBuilder,
  x: Flow,
  [height, width]: readonly [Dim | undefined, Dim | undefined],
  place: Place,
  attributes: Readonly<Record<string, Attribute>>,
): Flow {
  const dims = [x.dims[0], x.dims[1], height, width];
  const sizes = BigInt64Array.from(dims, dim => BigInt(getDefined(typeof dim === 'number' ? dim : undefined, 'a static size')));
  const constant = encodeRawTensor(makeTensor('int64', [4], sizes));
  const target = addInitializer(builder.model, builder.model.graph, `${place.module}.sizes`, constant).id;
  return emit(builder, 'Resize', place, [x.id, undefined, undefined, target], dims, attributes);
}

function emit(
  builder: ModelBuilder,
  opType: string,
  place: Place,
  inputs: readonly (ValueId | undefined)[],
  dims: readonly Dim[],
  attributes: Readonly<Record<string, Attribute>> = {},
): Flow {
  const { model } = builder;
  const name = place.node ?? place.module.replaceAll('.', '/');
  const value = addValue(model, model.graph, place.value ?? name, { type: { kind: 'tensor', dtype: 'float32', dims } });
  addNode(model, model.graph, { opType, name, inputs, outputs: [value.id], attributes });
  return { id: value.id, dims };
}

function weightAndBias(builder: ModelBuilder, module: string): ValueId[] {
  const bias = `${module}.bias`;
  const weight = initializer(builder, `${module}.weight`);
  return builder.state.has(bias) ? [weight, initializer(builder, bias)] : [weight];
}

function initializer(builder: ModelBuilder, key: string): ValueId {
  const known = builder.initializers.get(key);
  if (known !== undefined) return known;
  const { id } = addInitializer(builder.model, builder.model.graph, key, getDefined(builder.state.get(key), key));
  builder.initializers.set(key, id);
  return id;
}

function dimsOf(builder: ModelBuilder, key: string): readonly number[] {
  return getDefined(builder.state.get(key), key).dims;
}
