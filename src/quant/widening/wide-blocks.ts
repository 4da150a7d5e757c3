/** What a mixed-precision search chooses from: each tensor with a range of its own, what its wider form costs, and its share in the errors. */
import { getDefined } from '../../base/invariant.js';
import { countMacs } from '../../onnx/analysis/macs.js';
import { getValue, indexUses } from '../../onnx/ir/edit.js';
import type { Dim, Graph, Node, Value, ValueId } from '../../onnx/ir/model.js';
import { countElements } from '../../tensor/shape.js';
import type { ActivationEntry, QuantizationReport } from '../report/report-entries.js';
import type { StepErrors } from '../sensitivity/error-flow.js';
import { shareErrors } from '../sensitivity/error-shares.js';
import type { SteppedModels } from '../sensitivity/find-steps.js';
import { findQuantizedLayers } from '../sensitivity/quantized-layers.js';
import { type Block, byBenefitPerCost, costOf } from './search-set.js';
import { NOTHING_WIDER, type WidenedTypes } from './widened-types.js';

/** 'int16': 16-bit integers of the same signedness. 'float': no integers, so that the nodes which touch the tensor run in float. */
export type WideType = 'int16' | 'float';

/** 'bytes': those that activations, and constant tables with the range of their rows, take more. 'macs': multiply-accumulates of the nodes that read or compute a wider tensor, and one per output element. */
export type WideCost = 'bytes' | 'macs';

export interface WideBlock extends Block {
  /** Names of the tensors in the float model; the first one has the range, the others share it. */
  readonly tensors: readonly string[];
  readonly dtype: string;
  /** Of the tensor alone, in dB; infinite if it loses nothing. */
  readonly ownSqnrDb: number;
  /** Outputs of the nodes that read or compute the tensors: one per node. */
  readonly nodes: readonly string[];
  /** Elements of all its tensors, of one sample. */
  readonly elements: number;
}

export interface WideBlocks {
  /** In graph order. */
  readonly blocks: readonly WideBlock[];
  readonly orders: readonly (readonly WideBlock[])[];
  /** The cost if everything were wider. */
  readonly total: number;
}

export interface BlocksRequest {
  readonly models: SteppedModels;
  /** Of the quantization without wider types. */
  readonly report: QuantizationReport;
  readonly errors: StepErrors;
  readonly to: WideType;
  readonly cost: WideCost;
}

export function findWideBlocks({ models, report, errors, to, cost }: BlocksRequest): WideBlocks {
  const { graph } = models.float;
  const groups = groupTensors(report, graph, to);
  const own = shareErrors(models, groups.map(layerOf(graph)), errors);
  const nodeCosts = costOfNodes(graph);
  const touching = indexNodes(graph);
  const blocks = groups.map(({ owner, ids, entries }, index): WideBlock => {
    const [first] = entries;
    const nodes = [...new Set(ids.flatMap(id => touching.get(id) ?? []))];
    const elements = entries.reduce((sum, { elements = 0 }) => sum + elements, 0) / Math.max(1, report.samples);
    const [ownerId] = ids;
    const bytes = (elements + countConstant(getValue(graph, ownerId))) * (to === 'int16' ? 1 : 3);
    const items =
      cost === 'bytes'
        ? [[`tensor ${owner}`, bytes] as const]
        : nodes.map(node => [`node ${nameNode(graph, node)}`, getDefined(nodeCosts.get(node), 'cost of a node')] as const);
    return {
      name: owner,
      tensors: [...new Set([owner, ...entries.map(({ name }) => name)])],
      dtype: first.dtype,
      ownSqnrDb: first.sqnrDb ?? Number.POSITIVE_INFINITY,
      nodes: nodes.map(node => nameNode(graph, node)),
      elements,
      items: new Map(items.map(([item, price]) => [item, Math.max(price, Number.MIN_VALUE)])),
      benefit: Math.max(0, own[index]?.cost ?? 0),
    };
  });
  return { blocks, orders: orderBlocks(models, errors, blocks), total: totalOf(blocks, nodeCosts, cost) };
}

/** The table itself becomes wider with its rows. */
function countConstant({ constant }: Value): number {
  return constant === undefined ? 0 : countElements(constant.dims);
}

/** What `quantize` must be told for a set. */
export function widenedTypesOf(set: readonly WideBlock[], to: WideType, range: 'min-max' | 'of-scheme'): WidenedTypes {
  if (to === 'float') {
    const outputs = [...new Set(set.flatMap(({ nodes }) => nodes))];
    return { ...NOTHING_WIDER, exclude: { tensors: set.flatMap(({ tensors }) => tensors), outputs } };
  }
  const overrides = set.map(({ name, dtype }) => ({
    tensor: name,
    set: { dtype: wideDType(dtype), ...(range === 'min-max' ? { range } : {}) },
  }));
  return { ...NOTHING_WIDER, overrides, ...(set.length === 0 ? {} : { qdqDomain: 'com.microsoft' }) };
}

/** 16 bits of the same signedness, so that zero points and fused activation functions stay what they are. */
export function wideDType(dtype: string): 'int16' | 'uint16' {
  return dtype.startsWith('u') ? 'uint16' : 'int16';
}

interface TensorGroup {
  /** The tensor that has the range. */
  readonly owner: string;
  /** The owner first. */
  readonly ids: readonly [ValueId, ...ValueId[]];
  readonly entries: readonly [ActivationEntry, ...ActivationEntry[]];
}

/** Tensors that share parameters, by the one that has the range: an activation, or a constant whose elements they hold. */
function groupTensors({ activations }: QuantizationReport, graph: Graph, to: WideType): readonly TensorGroup[] {
  const ids = new Map([...graph.values.values()].map(({ id, name }) => [name, id]));
  const groups = new Map<string, [ActivationEntry, ...ActivationEntry[]]>();
  for (const entry of activations) {
    const owner = entry.sharedWith ?? entry.name;
    const group = groups.get(owner);
    if (group === undefined) groups.set(owner, [entry]);
    else group.push(entry);
  }
  return [...groups].flatMap(([owner, entries]): TensorGroup[] => {
    const id = ids.get(owner);
    const isWide = to === 'int16' && entries[0].dtype.endsWith('16');
    if (id === undefined || isWide) return [];
    const others = entries.flatMap(({ name }) => (name === owner ? [] : (ids.get(name) ?? [])));
    return [{ owner, ids: [id, ...others], entries }];
  });
}

function layerOf(graph: Graph) {
  return ({ ids }: TensorGroup) => ({ values: ids, names: ids.map(id => getValue(graph, id).name), nodes: [] });
}

/** Nodes without constants' producers: those that read or compute each value. */
function indexNodes(graph: Graph): ReadonlyMap<ValueId, readonly Node[]> {
  const readers = indexUses(graph);
  return new Map(
    [...graph.values.values()].map(({ id, producer }) => {
      const own = producer === undefined ? undefined : graph.nodes.get(producer);
      return [id, [...(own === undefined ? [] : [own]), ...(readers.get(id) ?? []).map(({ node }) => node)]];
    }),
  );
}

function nameNode(graph: Graph, { outputs }: Node): string {
  const first = outputs.find(id => id !== undefined);
  return getValue(graph, getDefined(first, 'output of a node')).name;
}

function costOfNodes(graph: Graph): ReadonlyMap<Node, number> {
  const dimsOf = (id: ValueId | undefined): readonly Dim[] | undefined => {
    const value = id === undefined ? undefined : getValue(graph, id);
    if (value?.constant !== undefined) return value.constant.dims;
    return value?.type?.kind === 'tensor' ? value.type.dims : undefined;
  };
  return new Map(
    [...graph.nodes.values()].map(node => {
      const macs = countMacs(node, { input: index => dimsOf(node.inputs[index]), output: index => dimsOf(node.outputs[index]) });
      const elements = (dimsOf(node.outputs[0]) ?? []).reduce<number>((product, dim) => product * (typeof dim === 'number' ? dim : 1), 1);
      return [node, (macs ?? 0) + elements];
    }),
  );
}

function totalOf(blocks: readonly WideBlock[], nodes: ReadonlyMap<Node, number>, cost: WideCost): number {
  return cost === 'bytes' ? costOf(blocks) : [...nodes.values()].reduce((sum, own) => sum + own, 0);
}

/** By benefit per cost; whole layers, whose tensors round one after the other, by their benefit; and by own error. */
function orderBlocks(models: SteppedModels, errors: StepErrors, blocks: readonly WideBlock[]): WideBlocks['orders'] {
  const layers = shareErrors(models, findQuantizedLayers(models), errors);
  const costs = new Map(layers.flatMap(({ layer: { names }, cost }) => names.map(name => [name, cost] as const)));
  const layerCost = ({ tensors }: WideBlock): number => Math.max(...tensors.map(name => costs.get(name) ?? 0));
  const byLayer = [...blocks].sort((a, b) => layerCost(b) - layerCost(a));
  return [byBenefitPerCost(blocks), byLayer, byOwnError(blocks)];
}

/** The largest error of its own first. */
export function byOwnError(blocks: readonly WideBlock[]): readonly WideBlock[] {
  return [...blocks].sort((a, b) => a.ownSqnrDb - b.ownSqnrDb);
}
