/** Models that compute chosen quantized values, from the inputs of the model or from given tensors in the place of other values. */
import { cloneModel } from '../../../onnx/ir/clone.js';
import { addInput, freshName, indexUses, removeNode, setInput } from '../../../onnx/ir/edit.js';
import type { Model, Node, NodeId, ValueId } from '../../../onnx/ir/model.js';
import type { QuantizedValue } from './quantized-values.js';

export interface Probe {
  readonly model: Model;
  /** The input that stands for a replaced value. */
  readonly inputOf: ReadonlyMap<ValueId, string>;
}

/** @param replaced values whose readers take a new input instead; the values themselves are still computed where they are wanted. */
export function probeModel(model: Model, wanted: readonly QuantizedValue[], replaced: readonly QuantizedValue[]): Probe {
  const copy = cloneModel(model);
  const { graph } = copy;
  const uses = indexUses(graph);
  const inputOf = new Map<ValueId, string>();
  for (const { id, name, dtype, dims } of replaced) {
    const input = addInput(copy, graph, freshName(graph, `${name}_dumped`), { kind: 'tensor', dtype, dims });
    inputOf.set(id, input.name);
    for (const { node, index } of uses.get(id) ?? []) if (index >= 0) setInput(node, index, input.id);
  }
  graph.outputs = wanted.map(({ id }) => id);
  keepNeeded(copy);
  return { model: copy, inputOf };
}

/** Values that can be computed from these inputs and the given values. */
export function listComputable(model: Model, inputs: ReadonlySet<string>, given: ReadonlySet<ValueId>): ReadonlySet<ValueId> {
  const { graph } = model;
  const known = new Set<ValueId>();
  for (const [id, { constant }] of graph.values) if (constant !== undefined) known.add(id);
  for (const id of graph.inputs) if (inputs.has(graph.values.get(id)?.name ?? '')) known.add(id);
  const computed = new Set<ValueId>();
  for (const node of graph.nodes.values()) {
    if (!node.inputs.every(id => id === undefined || known.has(id))) {
      for (const id of node.outputs) if (id !== undefined && given.has(id)) known.add(id);
      continue;
    }
    for (const id of node.outputs) {
      if (id === undefined) continue;
      known.add(id);
      computed.add(id);
    }
  }
  return computed;
}

/** Removes nodes and inputs that no output depends on. */
function keepNeeded({ graph }: Model): void {
  const producers = new Map<ValueId, Node>();
  for (const node of graph.nodes.values()) for (const id of node.outputs) if (id !== undefined) producers.set(id, node);
  const needed = new Set<ValueId>();
  const nodes = new Set<NodeId>();
  const open: ValueId[] = [...graph.outputs];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (needed.has(id)) continue;
    needed.add(id);
    const producer = producers.get(id);
    if (producer === undefined || nodes.has(producer.id)) continue;
    nodes.add(producer.id);
    for (const input of producer.inputs) if (input !== undefined) open.push(input);
  }
  for (const node of [...graph.nodes.values()]) if (!nodes.has(node.id)) removeNode(graph, node.id);
  graph.inputs = graph.inputs.filter(id => needed.has(id));
}
