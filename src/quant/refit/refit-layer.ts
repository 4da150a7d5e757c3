/** A float layer whose weights and bias can be scaled and shifted per output channel. */
import { getDefined } from '../../base/invariant.js';
import { getFloat, getInt } from '../../onnx/ir/attribute.js';
import { addInitializer, getValue, indexUses, removeValue, setInput, type Use } from '../../onnx/ir/edit.js';
import type { Graph, Model, Node, ValueId } from '../../onnx/ir/model.js';
import { findFloat32 } from '../../onnx/rules/shared/constants.js';
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';

export interface RefitLayer {
  readonly name: string;
  readonly node: Node;
  /** The layer of the same name in the reference. */
  readonly reference: Node;
  readonly channels: number;
}

export interface RefitLayers {
  /** In the order of the model's graph. */
  readonly layers: readonly RefitLayer[];
  readonly skipped: readonly { readonly node: string; readonly opType: string; readonly reason: string }[];
}

const LAYERS: ReadonlySet<string> = new Set(['Conv', 'ConvTranspose', 'Gemm']);

/** Layers are paired by node name and operator. */
export function findRefitLayers(reference: Model, { graph }: Model): RefitLayers {
  const partners = layersByName(reference.graph);
  const own = layersByName(graph);
  const uses = indexUses(graph);
  const layers: RefitLayer[] = [];
  const skipped: RefitLayers['skipped'][number][] = [];
  for (const node of graph.nodes.values()) {
    if (!isLayer(node)) continue;
    const partner = own.get(node.name) === node ? partners.get(node.name) : undefined;
    const reason = partner?.opType === node.opType ? findObstacle(graph, uses, node) : 'the reference has no layer of its name';
    if (partner === undefined || reason !== undefined) skipped.push({ node: node.name, opType: node.opType, reason: reason ?? '' });
    else layers.push({ name: node.name, node, reference: partner, channels: countChannels(graph, node) });
  }
  return { layers, skipped };
}

const isLayer = ({ opType, domain }: Node): boolean => LAYERS.has(opType) && domain === '';

/** Names that several layers have are left out. */
function layersByName({ nodes }: Graph): ReadonlyMap<string, Node> {
  const layers = [...nodes.values()].filter(node => isLayer(node) && node.name !== '');
  const counts = new Map<string, number>();
  for (const { name } of layers) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(layers.filter(({ name }) => counts.get(name) === 1).map(node => [node.name, node]));
}

function findObstacle(graph: Graph, uses: ReadonlyMap<ValueId, readonly Use[]>, node: Node): string | undefined {
  if (node.outputs[0] === undefined) return 'its output is not used';
  for (const [what, id] of [['weight', node.inputs[1]] as const, ['bias', node.inputs[2]] as const]) {
    if (id === undefined) continue;
    if (getValue(graph, id).constant?.dtype !== 'float32') return `its ${what} is not a float32 constant`;
    if (uses.get(id)?.length !== 1 || graph.outputs.includes(id))
      return `its ${what} also serves other nodes (rule unshare-constants gives each a copy)`;
  }
  const bias = node.inputs[2] === undefined ? undefined : readFloats(graph, node.inputs[2]);
  const channels = countChannels(graph, node);
  const isVector = bias === undefined || (bias.data.length === channels && bias.dims.at(-1) === channels);
  if (!isVector) return 'its bias is not one number per channel';
  return node.opType === 'Gemm' && (getFloat(node, 'beta', 1) === 0 || getInt(node, 'transA', 0) !== 0)
    ? 'its Gemm has beta 0 or transA'
    : undefined;
}

function countChannels(graph: Graph, node: Node): number {
  const [rows = 0, columns = 0] = weightOf(graph, node).dims;
  if (node.opType === 'ConvTranspose') return columns * getInt(node, 'group', 1);
  return node.opType === 'Gemm' && getInt(node, 'transB', 0) === 0 ? columns : rows;
}

function weightOf(graph: Graph, node: Node): Tensor<'float32'> {
  return readFloats(graph, getDefined(node.inputs[1], 'weight'));
}

function readFloats(graph: Graph, id: ValueId): Tensor<'float32'> {
  return getDefined(findFloat32(getValue(graph, id).constant), 'float32 constant of a layer');
}

/** Gives every layer a bias, so that none is added while the model runs. @returns those that had none. */
export function addBiases(model: Model, layers: readonly RefitLayer[]): readonly RefitLayer[] {
  const without = layers.filter(({ node }) => node.inputs[2] === undefined);
  for (const { node, name, channels } of without) {
    const zeros = encodeRawTensor(makeTensor('float32', [channels], new Float32Array(channels)));
    setInput(node, 2, addInitializer(model, model.graph, `${name}_bias`, zeros).id);
  }
  return without;
}

/** Removes biases that are still zero. */
export function removeZeroBiases({ graph }: Model, layers: readonly RefitLayer[]): void {
  for (const { node } of layers) {
    const [, , bias] = node.inputs;
    if (bias === undefined || readFloats(graph, bias).data.some(value => value !== 0)) continue;
    node.inputs.length = 2;
    removeValue(graph, bias);
  }
}

export interface LayerWeights {
  readonly weight: Float32Array;
  readonly bias: Float32Array;
}

export function readWeights(graph: Graph, { node }: RefitLayer): LayerWeights {
  return { weight: weightOf(graph, node).data, bias: readFloats(graph, getDefined(node.inputs[2], 'bias')).data };
}

export function writeWeights(graph: Graph, { node }: RefitLayer, { weight, bias }: LayerWeights): void {
  for (const [index, data] of [[1, weight] as const, [2, bias] as const]) {
    const value = getValue(graph, getDefined(node.inputs[index], 'constant'));
    const { dims } = getDefined(value.constant, 'constant');
    value.constant = encodeRawTensor(makeTensor('float32', dims, data));
  }
}

/** Weights such that the output of channel c is output · scales[c] + shifts[c]; rounded once. */
export function withAffine(
  graph: Graph,
  layer: RefitLayer,
  { scales, shifts }: { readonly scales: Float64Array; readonly shifts: Float64Array },
): LayerWeights {
  const { node, channels } = layer;
  const { weight, bias } = readWeights(graph, layer);
  const { dims } = weightOf(graph, node);
  const channelAt = channelsOfWeight(node, dims, channels);
  const beta = node.opType === 'Gemm' ? getFloat(node, 'beta', 1) : 1;
  return {
    weight: weight.map((value, index) => value * (scales[channelAt(index)] ?? 1)),
    bias: bias.map((value, channel) => value * (scales[channel] ?? 1) + (shifts[channel] ?? 0) / beta),
  };
}

/** The output channel of each element of the weight. */
function channelsOfWeight(node: Node, dims: readonly number[], channels: number): (index: number) => number {
  const [rows = 1, columns = 1, ...kernel] = dims;
  const inner = kernel.reduce((product, size) => product * size, 1);
  if (node.opType === 'ConvTranspose') {
    const perGroup = rows / getInt(node, 'group', 1);
    return index => Math.floor(index / inner / columns / perGroup) * columns + (Math.floor(index / inner) % columns);
  }
  if (node.opType === 'Gemm' && getInt(node, 'transB', 0) === 0) return index => index % columns;
  return index => Math.floor((index * channels) / (rows * columns * inner));
}
