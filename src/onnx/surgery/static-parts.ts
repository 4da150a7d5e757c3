/** Divides a model whose sizes depend on the data into networks of known sizes and the nodes between them, which run on a host. */
import { getValue, subgraphsOf } from '../ir/edit.js';
import type { Dim, Model, Node, NodeId, ValueId } from '../ir/model.js';
import { valuesReadBy } from '../ir/reads.js';
import { findConstantValue } from '../rewrite/graph-view.js';
import { isStatic } from '../shape-inference/context/dims.js';
import { describeNode, formatDims } from '../shape-inference/context/node-context.js';
import { inferShapes, isMadeDim, type KnownTypes } from '../shape-inference/infer-shapes.js';

/** Live nodes that run together: all of them are layers of networks with known sizes, or all of them are the host's. */
export interface StaticStep {
  /** 'network': all sizes are known. 'head': takes any number of rows of one size. 'host': everything else. */
  readonly kind: 'network' | 'head' | 'host';
  readonly nodes: readonly Node[];
}

export interface StaticSteps {
  /** In the order in which they run. */
  readonly steps: readonly StaticStep[];
  /** Where sizes begin to depend on the data: nodes with inputs of known sizes and outputs of unknown ones. */
  readonly dataDependent: readonly string[];
  /** Values that depend on an input of the model. */
  readonly live: ReadonlySet<ValueId>;
  readonly types: KnownTypes;
}

/** Operators with a weight: what a network consists of. */
const WEIGHTED = new Set(['Conv', 'ConvTranspose', 'Gemm', 'MatMul']);

/** Operators that choose what is found, or gather it: no part of a network, even where their sizes are known. */
const CHOOSING = new Set(['NonMaxSuppression', 'NonZero', 'RoiAlign', 'MaxRoiPool', 'Unique', 'Compress', 'If', 'Loop', 'Scan']);

/**
 * The steps of `model`, whose nodes are in topological order, whose constants are folded, and whose input sizes are known. A network has weighted nodes and what
 * lies between them. What follows its last weighted node is the host's, and so is what precedes the first, as far as it gives an image of three channels.
 */
export function findStaticSteps(model: Model): StaticSteps {
  const facts = readFacts(model);
  const inner = withoutLostImages(facts, findInner(facts));
  const numbers = numberSteps(facts, inner);
  const steps = [...new Set(numbers.values())]
    .sort((a, b) => a - b)
    .map((step): StaticStep => {
      const nodes = facts.nodes.filter(({ id }) => numbers.get(id) === step);
      return { kind: kindOf(facts, inner, nodes), nodes };
    });
  return { steps, dataDependent: listDataDependent(facts), live: facts.live, types: facts.types };
}

/**
 * Whether nodes of a model that is not simplified yet precede its first network, as normalization does. Nodes that read sizes alone do not count: they become
 * constants. Without a network of known sizes, nodes do.
 */
export function precedeNetwork(model: Model): boolean {
  const { steps, live } = findStaticSteps(model);
  const first = steps.findIndex(({ kind }) => kind === 'network');
  const measured = new Set<ValueId>();
  for (const node of steps.slice(0, Math.max(0, first)).flatMap(({ nodes }) => nodes)) {
    const read = [...valuesReadBy(node)].filter(id => live.has(id));
    if (node.opType !== 'Shape' && !read.every(id => measured.has(id))) return true;
    for (const id of outputsOf(node)) measured.add(id);
  }
  return first < 0;
}

interface Facts {
  readonly model: Model;
  readonly nodes: readonly Node[];
  readonly types: KnownTypes;
  /** Values that depend on an input of the model. */
  readonly live: ReadonlySet<ValueId>;
}

function readFacts(model: Model): Facts {
  const { graph } = model;
  const nodes = [...graph.nodes.values()];
  const live = new Set<ValueId>(graph.inputs.filter(id => getValue(graph, id).constant === undefined));
  for (const node of nodes) {
    if (![...valuesReadBy(node)].some(id => live.has(id))) continue;
    for (const output of outputsOf(node)) live.add(output);
  }
  return { model, nodes, types: inferShapes(model), live };
}

export const outputsOf = (node: Node): readonly ValueId[] => node.outputs.filter(output => output !== undefined);

const dimsOf = ({ types }: Facts, id: ValueId): readonly Dim[] | undefined => types.get(id)?.dims;

const isLive = ({ live }: Facts, node: Node): boolean => outputsOf(node).some(id => live.has(id));

/** Whether all sizes of the live values around `node` are known, but for the number of rows. */
function hasKnownSizes(facts: Facts, node: Node): boolean {
  if (CHOOSING.has(node.opType) || subgraphsOf(node).length > 0) return false;
  const around = [...valuesReadBy(node), ...outputsOf(node)].filter(id => facts.live.has(id));
  return around.every(id => isStatic(dimsOf(facts, id)?.slice(1)) && dimsOf(facts, id)?.length !== 0);
}

function isWeighted(facts: Facts, node: Node): boolean {
  const weight = node.inputs[1];
  return node.domain === '' && WEIGHTED.has(node.opType) && weight !== undefined && findConstantValue(facts.model, weight) !== undefined;
}

/** The nodes of networks: weighted nodes of known sizes, and the nodes on paths between two of them that have known sizes throughout. */
function findInner(facts: Facts): ReadonlySet<NodeId> {
  const known = new Set(facts.nodes.filter(node => isLive(facts, node) && hasKnownSizes(facts, node)).map(({ id }) => id));
  const weighted = new Set(facts.nodes.filter(node => known.has(node.id) && isWeighted(facts, node)).map(({ id }) => id));
  const after = new Set<ValueId>();
  for (const node of facts.nodes) {
    if (!known.has(node.id)) continue;
    if (weighted.has(node.id) || [...valuesReadBy(node)].some(id => after.has(id))) for (const id of outputsOf(node)) after.add(id);
  }
  const before = new Set<ValueId>();
  const inner = new Set<NodeId>();
  for (const node of facts.nodes.toReversed()) {
    if (!known.has(node.id)) continue;
    const leads = outputsOf(node).some(id => before.has(id));
    if (!weighted.has(node.id) && !leads) continue;
    for (const id of valuesReadBy(node)) before.add(id);
    if (weighted.has(node.id) || [...valuesReadBy(node)].some(id => after.has(id))) inner.add(node.id);
  }
  return inner;
}

/**
 * The nodes of networks, with those before that take channels away from an image of three or change its form: what the host would give is no image that could
 * be prepared. An image that has one channel from the start keeps its preparation.
 */
function withoutLostImages(facts: Facts, inner: ReadonlySet<NodeId>): ReadonlySet<NodeId> {
  const { images, prepared } = followImages(facts, inner);
  const lost = new Set<ValueId>();
  for (const node of facts.nodes) {
    if (!inner.has(node.id)) continue;
    for (const id of valuesReadBy(node)) if (images.has(id) && prepared.has(id) && !isImage(dimsOf(facts, id))) lost.add(id);
  }
  const all = new Set(inner);
  for (const node of facts.nodes.toReversed()) {
    if (!outputsOf(node).some(id => lost.has(id))) continue;
    all.add(node.id);
    for (const id of valuesReadBy(node)) if (facts.live.has(id)) lost.add(id);
  }
  return all;
}

/** The live values that depend on an image of three channels, and those that only nodes of known sizes outside of networks lead to. */
function followImages(facts: Facts, inner: ReadonlySet<NodeId>) {
  const inputs = facts.model.graph.inputs.filter(id => facts.live.has(id));
  const images = new Set(inputs.filter(id => hasThreeChannels(dimsOf(facts, id))));
  const prepared = new Set(inputs);
  for (const node of facts.nodes) {
    if (!isLive(facts, node)) continue;
    const read = [...valuesReadBy(node)].filter(id => facts.live.has(id));
    const isImageBehind = read.some(id => images.has(id));
    const isPrepared = !inner.has(node.id) && hasKnownSizes(facts, node) && read.every(id => prepared.has(id));
    for (const id of outputsOf(node)) {
      if (isImageBehind) images.add(id);
      if (isPrepared) prepared.add(id);
    }
  }
  return { images, prepared };
}

function isImage(dims: readonly Dim[] | undefined): boolean {
  return dims?.length === 4 && dims[1] === 3;
}

/** Channels first or last, with or without a batch. */
function hasThreeChannels(dims: readonly Dim[] | undefined): boolean {
  return dims !== undefined && dims.length >= 3 && (dims.at(-3) === 3 || dims.at(-1) === 3);
}

/** Per live node, the number of changes between host and network on the longest path to it: even on the host, odd in a network. */
function numberSteps(facts: Facts, inner: ReadonlySet<NodeId>): ReadonlyMap<NodeId, number> {
  const steps = new Map<NodeId, number>();
  const ofValue = new Map<ValueId, number>();
  for (const node of facts.nodes) {
    if (!isLive(facts, node)) continue;
    const reached = Math.max(0, ...[...valuesReadBy(node)].map(id => ofValue.get(id) ?? 0));
    const parity = inner.has(node.id) ? 1 : 0;
    const step = reached % 2 === parity ? reached : reached + 1;
    steps.set(node.id, step);
    for (const id of outputsOf(node)) ofValue.set(id, step);
  }
  return steps;
}

function kindOf(facts: Facts, inner: ReadonlySet<NodeId>, nodes: readonly Node[]): StaticStep['kind'] {
  if (!nodes.some(({ id }) => inner.has(id))) return 'host';
  return nodes.every(node => outputsOf(node).every(id => isStatic(dimsOf(facts, id)))) ? 'network' : 'head';
}

function listDataDependent(facts: Facts): readonly string[] {
  const isKnown = (id: ValueId): boolean => !facts.live.has(id) || isStatic(dimsOf(facts, id));
  return facts.nodes.flatMap(node => {
    const unknown = outputsOf(node).find(id => !isKnown(id));
    if (unknown === undefined || ![...valuesReadBy(node)].every(isKnown)) return [];
    return [
      `${describeNode(node, facts.model.graph)} gives ${formatDims(dimsOf(facts, unknown)?.map(dim => (isMadeDim(dim) ? '?' : dim)))}`,
    ];
  });
}
