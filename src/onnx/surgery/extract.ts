/** Extraction of the part of a model between given inputs and outputs as a separate model. */
import { findClosest } from '../../base/text/did-you-mean.js';
import { cloneNode, cloneValue } from '../ir/clone.js';
import { addValue, getNode, getValue } from '../ir/edit.js';
import type { Graph, Model, Node, NodeId, Value, ValueId } from '../ir/model.js';
import { makeNameScope } from '../ir/name-scope.js';
import { OnnxError } from '../ir/onnx-error.js';
import { valuesReadBy } from '../ir/reads.js';
import { findSparseInitializers } from '../serde/sparse-initializers.js';

export interface Cut {
  /** Names of the values that become the inputs of the part, in this order: inputs, initializers or values between nodes. */
  readonly inputs: readonly string[];
  /** Names of the values that become the outputs of the part, in this order. */
  readonly outputs: readonly string[];
}

/**
 * The part of the main graph of `model` between the named values: the nodes that the outputs need, their initializers, operator sets and metadata.
 * Names, types and node order are kept; a new input has its known type. `model` is not changed; constants are shared.
 *
 * @throws OnnxError `unknown-value` with all names that the graph does not have; `cut-open` if an output needs an input of the model that is not named;
 *   `cut-repeated` if a name is given twice on one side.
 */
export function extractSubgraph(model: Model, cut: Cut): Model {
  const { inputs, outputs } = findEnds(model.graph, cut);
  const needed = collectNeeded(model.graph, inputs, outputs);
  const graph = cloneSome(model.graph, needed, [...inputs, ...outputs]);
  const part: Model = { ...model, opsets: new Map(model.opsets), metadata: new Map(model.metadata), graph };
  for (const id of inputs) detachInput(part, graph, id);
  graph.inputs = inputs;
  graph.outputs = outputs;
  return part;
}

function findEnds(graph: Graph, cut: Cut): { inputs: ValueId[]; outputs: ValueId[] } {
  const byName = new Map([...graph.values.values()].map(value => [value.name, value.id] as const));
  const missing = [...cut.inputs, ...cut.outputs].filter(name => !byName.has(name));
  if (missing.length > 0) {
    const described = missing.map(name => describeMissing(name, byName.keys()));
    throw new OnnxError('unknown-value', `the graph "${graph.name}" has no value ${described.join(', no value ')}`, { details: missing });
  }
  for (const names of [cut.inputs, cut.outputs]) {
    const repeated = names.find((name, index) => names.indexOf(name) !== index);
    if (repeated !== undefined) throw new OnnxError('cut-repeated', `"${repeated}" is named twice among the inputs or outputs of the part`);
  }
  const idOf = (name: string): ValueId[] => {
    const id = byName.get(name);
    return id === undefined ? [] : [id];
  };
  return { inputs: cut.inputs.flatMap(idOf), outputs: cut.outputs.flatMap(idOf) };
}

function describeMissing(name: string, names: Iterable<string>): string {
  const closest = findClosest(name, names);
  return closest === undefined ? `"${name}"` : `"${name}" (did you mean "${closest}"?)`;
}

function collectNeeded(graph: Graph, inputs: readonly ValueId[], outputs: readonly ValueId[]): ReadonlySet<NodeId> {
  const given = new Set([...inputs, ...findSparseInitializers(graph)]);
  const nodes = new Set<NodeId>();
  const open = new Map<ValueId, string>();
  for (const output of outputs) {
    const pending = [output];
    const seen = new Set<ValueId>();
    for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
      if (given.has(id) || seen.has(id)) continue;
      seen.add(id);
      const value = graph.values.get(id);
      if (value?.producer !== undefined) {
        if (nodes.has(value.producer)) continue;
        nodes.add(value.producer);
        pending.push(...valuesReadBy(getNode(graph, value.producer)));
      } else if (value !== undefined && value.constant === undefined) open.set(id, getValue(graph, output).name);
    }
  }
  if (open.size > 0) {
    const reasons = [...open].map(([id, output]) => `"${output}" needs "${getValue(graph, id).name}"`);
    throw new OnnxError(
      'cut-open',
      `the part between the named values is not closed: ${reasons.join('; ')}, which is not among its inputs`,
      {
        help: 'add it to the inputs, or add a value between it and the output',
      },
    );
  }
  return nodes;
}

/** Turns a value into an input. If its producer is kept for other outputs, the producer gets an unread value in its place. */
function detachInput(model: Model, graph: Graph, id: ValueId): void {
  const value = getValue(graph, id);
  const producer = value.producer === undefined ? undefined : graph.nodes.get(value.producer);
  value.producer = undefined;
  value.constant = undefined;
  if (producer === undefined) return;
  const unread: Value = addValue(model, graph, makeNameScope(graph).take(`${value.name}_unread`), { type: value.type });
  unread.producer = producer.id;
  producer.outputs = producer.outputs.map(output => (output === id ? unread.id : output));
}

/** A copy of the given nodes with their values and the ends, so that cutting a large graph into many parts does not copy the whole graph each time. */
function cloneSome(graph: Graph, nodes: ReadonlySet<NodeId>, ends: readonly ValueId[]): Graph {
  const cloned = new Map<NodeId, Node>();
  const kept = new Set<ValueId>(ends);
  for (const node of graph.nodes.values()) {
    if (!nodes.has(node.id)) continue;
    cloned.set(node.id, cloneNode(node));
    for (const id of valuesReadBy(node)) kept.add(id);
    for (const id of node.outputs) if (id !== undefined) kept.add(id);
  }
  const values = new Map<ValueId, Value>();
  for (const value of graph.values.values()) if (kept.has(value.id)) values.set(value.id, cloneValue(value));
  return { ...graph, nodes: cloned, values, metadata: new Map(graph.metadata) };
}
