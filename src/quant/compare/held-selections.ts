/** Two models that use the same selection: the positions that TopK, NonMaxSuppression and alike find become outputs of the one and inputs of the other. */
import { getInt, int } from '../../onnx/ir/attribute.js';
import { cloneModel } from '../../onnx/ir/clone.js';
import { addInput, addNode, findValueByName, freshName, getValue, indexUses, replaceUses } from '../../onnx/ir/edit.js';
import type { Graph, Model, Node, Value, ValueId, ValueType } from '../../onnx/ir/model.js';
import { valuesReadBy } from '../../onnx/ir/reads.js';

/** The output with positions of each operator that selects. */
const POSITIONS: ReadonlyMap<string, number> = new Map([
  ['ArgMax', 0],
  ['ArgMin', 0],
  ['NonMaxSuppression', 0],
  ['NonZero', 0],
  ['TopK', 1],
]);

const POSITIONS_TYPE: ValueType = { kind: 'tensor', dtype: 'int64', dims: undefined };

/** GatherElements, which follows the positions of another TopK, exists since this operator set. */
const GATHERS_ELEMENTS = 11;

export interface Selection {
  /** The value with the positions, as both models name it. */
  readonly value: string;
  readonly node: string;
  readonly opType: string;
  /** Of TopK: the axis along which elements are ranked, from the end if negative. */
  readonly axis: number;
  /** Names of all outputs that depend on it. */
  readonly outputs: readonly string[];
}

export interface HeldSelections {
  readonly selections: readonly Selection[];
  /** Names of the outputs that depend on a selection, and also on the inputs in another way or on a layer behind it: of equal positions alone, both models compute the same. */
  readonly outputs: readonly string[];
  /** Names of other outputs that depend on a selection, of positions alone, where one of `outputs` depends on it too: labels beside boxes. */
  readonly followers: readonly string[];
  /** The reference, with the positions of each selection as an output of its name. */
  readonly reference: Model;
  /** The candidate, with an input for the positions of each selection, and its own positions as outputs. */
  readonly candidate: Model;
  /** The candidate's input for each selection. */
  readonly inputs: ReadonlyMap<string, string>;
}

/** The nodes of the main graph that select by computed numbers, and whose positions another node reads. */
export function findSelections({ graph }: Model): readonly Node[] {
  const uses = indexUses(graph);
  return [...graph.nodes.values()].filter(node => {
    const positions = positionsOf(node);
    return positions !== undefined && (uses.get(positions)?.length ?? 0) > 0;
  });
}

/** Undefined if the reference selects nothing that the candidate selects too. The models given do not change. */
export function holdSelections(original: Model, other: Model): HeldSelections | undefined {
  const [reference, candidate] = [cloneModel(original), cloneModel(other)];
  const pairs = findSelections(reference).flatMap(node => {
    const positions = getPositions(reference.graph, node);
    const partner = findPartner(candidate.graph, node.opType, positions.name);
    return partner === undefined ? [] : [{ node, positions, partner }];
  });
  if (pairs.length === 0) return undefined;
  const inputs = new Map<string, string>();
  for (const { positions, partner } of pairs) {
    addOutput(reference.graph, positions.id);
    inputs.set(positions.name, holdAt(candidate, partner, positions));
  }
  const names = new Map(original.graph.outputs.map(id => [id, getValue(original.graph, id).name]));
  const outputsIn = (values: ReadonlySet<ValueId>): readonly string[] => [...names].flatMap(([id, name]) => (values.has(id) ? [name] : []));
  const behind = valuesBehind(
    original.graph,
    pairs.flatMap(({ node }) => node.outputs),
  );
  const computed = valuesBeside(original.graph, new Set(pairs.map(({ positions }) => positions.id)));
  const selections = pairs.map(({ node, positions }) => ({
    value: positions.name,
    node: node.name,
    opType: node.opType,
    axis: getInt(node, 'axis', -1),
    outputs: outputsIn(valuesBehind(original.graph, node.outputs)),
  }));
  const outputs = outputsIn(new Set([...behind].filter(id => computed.has(id))));
  const beside = selections.filter(selection => selection.outputs.some(name => outputs.includes(name)));
  return {
    selections,
    outputs,
    followers: [...new Set(beside.flatMap(selection => selection.outputs))].filter(name => !outputs.includes(name)),
    reference,
    candidate,
    inputs,
  };
}

function positionsOf(node: Node): ValueId | undefined {
  const index = node.domain === '' ? POSITIONS.get(node.opType) : undefined;
  return index === undefined ? undefined : node.outputs[index];
}

function getPositions(graph: Graph, node: Node): Value {
  return getValue(graph, positionsOf(node) as ValueId);
}

function findPartner(graph: Graph, opType: string, name: string): Node | undefined {
  const producer = findValueByName(graph, name)?.producer;
  const node = producer === undefined ? undefined : graph.nodes.get(producer);
  return node?.opType === opType && positionsOf(node) !== undefined ? node : undefined;
}

/** Readers of the node's positions read a new input; its own positions become an output. @returns the name of the input. */
function holdAt(model: Model, node: Node, { name, type }: Value): string {
  const { graph } = model;
  const own = getPositions(graph, node);
  const input = addInput(model, graph, freshName(graph, `${name}_held`), type ?? POSITIONS_TYPE);
  const outputs = [...graph.outputs];
  replaceUses(graph, new Map([[own.id, input.id]]));
  graph.outputs = outputs;
  addOutput(graph, own.id);
  if (node.opType === 'TopK') gatherAt(model, node, input.id);
  return input.name;
}

/** The values of a TopK are those at the positions of the other model. */
function gatherAt(model: Model, node: Node, positions: ValueId): void {
  const { graph, opsets } = model;
  const [values] = node.outputs;
  const [ranked] = node.inputs;
  if (values === undefined || ranked === undefined || (opsets.get('') ?? 0) < GATHERS_ELEMENTS) return;
  const { name } = getValue(graph, values);
  const gathered = addNode(model, graph, {
    opType: 'GatherElements',
    inputs: [ranked, positions],
    outputs: [freshName(graph, `${name}_held`)],
    attributes: { axis: int(getInt(node, 'axis', -1)) },
    ...nodeAfter(graph, node),
  });
  const [held] = gathered.outputs;
  if (held === undefined) return;
  const isOutput = graph.outputs.includes(values);
  replaceUses(graph, new Map([[values, held]]));
  if (isOutput) renameOutput(graph, values, held);
}

/** An output keeps its name: `held` takes it from `values`. */
function renameOutput(graph: Graph, values: ValueId, held: ValueId): void {
  const [before, after] = [getValue(graph, values), getValue(graph, held)];
  const { name } = before;
  before.name = after.name;
  after.name = name;
}

function nodeAfter(graph: Graph, node: Node): { readonly before?: Node['id'] } {
  const order = [...graph.nodes.keys()];
  const next = order[order.indexOf(node.id) + 1];
  return next === undefined ? {} : { before: next };
}

function addOutput(graph: Graph, id: ValueId): void {
  getValue(graph, id).type ??= POSITIONS_TYPE;
  if (!graph.outputs.includes(id)) graph.outputs.push(id);
}

/** All values that depend on the seeds, with the seeds. */
function valuesBehind(graph: Graph, seeds: readonly (ValueId | undefined)[]): ReadonlySet<ValueId> {
  const uses = indexUses(graph);
  const behind = new Set<ValueId>();
  const waiting = [...seeds];
  while (waiting.length > 0) {
    const id = waiting.pop();
    if (id === undefined || behind.has(id)) continue;
    behind.add(id);
    for (const { node } of uses.get(id) ?? []) waiting.push(...node.outputs);
  }
  return behind;
}

/** Their results depend on sizes alone. */
const SIZES: ReadonlySet<string> = new Set(['Shape', 'Size']);

/** Layers, whose weights differ between the models. */
const LAYERS: ReadonlySet<string> = new Set([
  'Conv',
  'ConvInteger',
  'ConvTranspose',
  'Gemm',
  'MatMul',
  'MatMulInteger',
  'QLinearConv',
  'QLinearMatMul',
]);

/** All values that depend on a layer, or on the numbers of an input of the model other than through the values `held`. */
function valuesBeside(graph: Graph, held: ReadonlySet<ValueId>): ReadonlySet<ValueId> {
  const beside = new Set<ValueId>(graph.inputs.filter(id => getValue(graph, id).constant === undefined));
  for (const node of graph.nodes.values()) {
    const computes = LAYERS.has(node.opType) || [...valuesReadBy(node)].some(id => beside.has(id));
    if (!computes || SIZES.has(node.opType)) continue;
    for (const output of node.outputs) if (output !== undefined && !held.has(output)) beside.add(output);
  }
  return beside;
}
