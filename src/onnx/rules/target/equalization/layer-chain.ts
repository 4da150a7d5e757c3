/** Chains of layers that are linked by operators through which a positive factor per channel passes unchanged. */
import { decodeRawTensor } from '../../../../tensor/raw-tensor.js';
import { findInts, getFloat, getInt, getString } from '../../../ir/attribute.js';
import type { Node, ValueId } from '../../../ir/model.js';
import type { Match } from '../../../rewrite/rule.js';
import { findFloat32 } from '../../shared/constants.js';
import { readScalable, SCALABLE, type ScalableLayer } from './scalable-layer.js';

export interface LayerChain {
  /** At least two, in graph order. */
  readonly layers: readonly ScalableLayer[];
  /** At index i: the nodes between layer i and layer i + 1, in graph order. */
  readonly links: readonly (readonly Node[])[];
}

/** The longest chain that ends with the root of the match, or the reason why there is none. */
export function findChain(match: Match): LayerChain | string {
  if (readsOn(match)) return 'it is not the last layer of its chain';
  const layers: ScalableLayer[] = [];
  const links: (readonly Node[])[] = [];
  let node = match.node;
  for (;;) {
    const link = findLink(match, node);
    const layer = readScalable(match, node, typeof link === 'string' ? 1 : link.flattened);
    if (typeof layer === 'string') {
      if (layers.length > 1) break;
      return node === match.node ? layer : `the layer before it cannot be scaled: ${layer}`;
    }
    const after = layers[0];
    if (after !== undefined && layer.outputs !== after.inputs) break;
    layers.unshift(layer);
    if (typeof link === 'string') {
      if (layers.length === 1) return link;
      break;
    }
    links.unshift(link.nodes);
    node = link.head;
  }
  return { layers, links: links.slice(links.length - layers.length + 1) };
}

export interface Link {
  readonly head: Node;
  readonly nodes: readonly Node[];
  /** See readScalable. */
  readonly flattened: number;
}

/** The nodes between `tail` and the layer before it. */
export function findLink(match: Match, tail: Node): Link | string {
  const nodes: Node[] = [];
  let flattened = 1;
  let value = tail.inputs[0];
  let reader = tail;
  for (;;) {
    const node = match.producerOf(value);
    if (value === undefined || node === undefined) return 'no layer is before it';
    if (match.soleReader(value) !== reader || node.outputs[0] !== value) return `"${match.nameOf(value)}" before it has several readers`;
    if (SCALABLE.includes(node.opType)) return { head: node, nodes, flattened };
    if (node.opType === 'Flatten' && nodes.length === 0 && tail.opType === 'Gemm') {
      const area = flattenedArea(match, node);
      if (area === undefined) return 'a Flatten of unknown sizes is before it';
      flattened = area;
    } else if (!passesFactors(match, node)) return `no factor per channel passes through ${node.opType}`;
    nodes.unshift(node);
    reader = node;
    value = node.inputs[0];
  }
}

/** Whether the output of the root goes on to another layer of the same chain. */
function readsOn(match: Match): boolean {
  let value: ValueId | undefined = match.output();
  while (value !== undefined) {
    const reader: Node | undefined = match.soleReader(value);
    if (reader === undefined || reader.inputs[0] !== value || reader.domain !== '') return false;
    if (SCALABLE.includes(reader.opType)) {
      const link = findLink(match, reader);
      const layer = typeof link === 'string' ? link : readScalable(match, reader, link.flattened);
      const own = readScalable(match, match.node);
      return typeof layer !== 'string' && typeof own !== 'string' && layer.inputs === own.outputs;
    }
    if (reader.opType !== 'Flatten' && !passesFactors(match, reader)) return false;
    value = reader.outputs[0];
  }
  return false;
}

const HOMOGENEOUS = new Set(['AveragePool', 'GlobalAveragePool', 'GlobalMaxPool', 'LeakyRelu', 'MaxPool', 'Relu']);

/** Whether f(s·x) = s·f(x) for every s > 0 of a channel. */
function passesFactors(match: Match, node: Node): boolean {
  if (node.domain !== '' || node.outputs.slice(1).some(output => output !== undefined)) return false;
  if (node.opType === 'PRelu') return match.constantOf(node.inputs[1]) !== undefined;
  return HOMOGENEOUS.has(node.opType) || (node.opType === 'Pad' && padsEachChannel(match, node));
}

/** Zeros, or elements of the same channel, around height and width. */
function padsEachChannel(match: Match, node: Node): boolean {
  const pads = findInts(node, 'pads') ?? readPads(match, node.inputs[1]);
  const rank = match.type(node.inputs[0] ?? match.output()).dims?.length;
  if (pads === undefined || rank === undefined || pads.length !== 2 * rank || node.inputs[3] !== undefined) return false;
  if ([0, 1, rank, rank + 1].some(at => pads[at] !== 0)) return false;
  if (getString(node, 'mode', 'constant') !== 'constant') return true;
  const value = node.inputs[2];
  return value === undefined ? getFloat(node, 'value', 0) === 0 : findFloat32(match.constantOf(value))?.data[0] === 0;
}

function readPads(match: Match, value: ValueId | undefined): readonly number[] | undefined {
  const constant = match.constantOf(value);
  if (constant?.dtype !== 'int64') return undefined;
  return [...decodeRawTensor({ ...constant, dtype: 'int64' }).data].map(Number);
}

/** Elements per channel of the tensor that `node` makes [N, C · elements]. */
function flattenedArea(match: Match, node: Node): number | undefined {
  const [source] = node.inputs;
  const dims = source === undefined ? undefined : match.type(source).dims;
  if (dims === undefined || dims.length < 2 || getInt(node, 'axis', 1) !== 1) return undefined;
  let area = 1;
  for (const dim of dims.slice(2)) {
    if (typeof dim !== 'number') return undefined;
    area *= dim;
  }
  return area;
}
