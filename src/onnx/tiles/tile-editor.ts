/** Edits of a graph on tiles: nodes with unique names, and copies of Q and DQ with the same scale and zero point. */
import { getDefined } from '../../base/invariant.js';
import { addInitializer, addNode, type NewNode, removeNode, replaceUses } from '../ir/edit.js';
import type { Constant, Graph, Model, Node, ValueId } from '../ir/model.js';
import { makeNameScope } from '../ir/name-scope.js';

export interface TileEditor {
  readonly model: Model;
  readonly graph: Graph;
  /** Adds an initializer; `name` gets a number if it is taken. */
  constant(name: string, constant: Constant): ValueId;
  /** Adds a node with one new output, named as the node. */
  node(name: string, spec: Omit<NewNode, 'name' | 'outputs'>): ValueId;
  /** Replaces `node` by another one with the same name and outputs. */
  replace(node: Node, spec: Omit<NewNode, 'name' | 'outputs'>): void;
  /** A copy of `node` that reads `input` first. */
  copy(node: Node, input: ValueId, name: string): ValueId;
  nameOf(id: ValueId): string;
}

export function makeTileEditor(model: Model): TileEditor {
  const { graph } = model;
  const names = makeNameScope(graph);
  const nodeNames = new Set([...graph.nodes.values()].map(({ name }) => name));
  const take = (wanted: string): string => {
    let name = names.take(wanted);
    while (nodeNames.has(name)) name = names.take(wanted);
    nodeNames.add(name);
    return name;
  };
  const node: TileEditor['node'] = (wanted, spec) => {
    const name = take(wanted);
    const [output] = addNode(model, graph, { ...spec, name, outputs: [name] }).outputs;
    return getDefined(output, `the output of ${name}`);
  };
  return {
    model,
    graph,
    node,
    constant: (name, constant) => addInitializer(model, graph, names.take(name), constant).id,
    replace({ id, name, outputs }, spec) {
      removeNode(graph, id);
      addNode(model, graph, { ...spec, name, outputs });
    },
    copy: ({ opType, domain, inputs, attributes }, input, name) =>
      node(name, { opType, domain, inputs: [input, ...inputs.slice(1)], attributes }),
    nameOf: id => getDefined(graph.values.get(id), `value ${id}`).name,
  };
}

/** The DequantizeLinear that produces `id`, with the QuantizeLinear before it. */
export function findPair(graph: Graph, id: ValueId): { readonly quantize: Node; readonly dequantize: Node } | undefined {
  const producer = (value: ValueId | undefined): Node | undefined => {
    const from = value === undefined ? undefined : graph.values.get(value)?.producer;
    return from === undefined ? undefined : graph.nodes.get(from);
  };
  const dequantize = producer(id);
  if (dequantize?.opType !== 'DequantizeLinear') return undefined;
  const quantize = producer(dequantize.inputs[0]);
  return quantize?.opType === 'QuantizeLinear' ? { quantize, dequantize } : undefined;
}

/** Makes every reader of `from` except `keep` read `to`. Outputs of the graph stay. */
export function redirect(graph: Graph, from: ValueId, to: ValueId, keep: readonly ValueId[]): void {
  const outputs = [...graph.outputs];
  const kept = new Map(
    [...graph.nodes.values()]
      .filter(node => node.outputs.some(id => id !== undefined && keep.includes(id)))
      .map(node => [node, [...node.inputs]]),
  );
  replaceUses(graph, new Map([[from, to]]));
  for (const [node, inputs] of kept) node.inputs = inputs;
  graph.outputs = outputs;
}
