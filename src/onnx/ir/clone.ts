/** Copies of models for editing: tables are copied, ids are kept, and bytes of constants are shared. */
import type { Attribute, Graph, Model, Node, NodeId, Value, ValueId } from './model.js';

export function cloneModel(model: Model): Model {
  return { ...model, opsets: new Map(model.opsets), metadata: new Map(model.metadata), graph: cloneGraph(model.graph) };
}

export function cloneGraph(graph: Graph): Graph {
  return {
    ...graph,
    nodes: new Map([...graph.nodes].map(([id, node]): [NodeId, Node] => [id, cloneNode(node)])),
    values: new Map([...graph.values].map(([id, value]): [ValueId, Value] => [id, cloneValue(value)])),
    inputs: [...graph.inputs],
    outputs: [...graph.outputs],
    metadata: new Map(graph.metadata),
  };
}

export function cloneValue(value: Value): Value {
  return { ...value, metadata: new Map(value.metadata) };
}

export function cloneNode(node: Node): Node {
  return {
    ...node,
    inputs: [...node.inputs],
    outputs: [...node.outputs],
    attributes: new Map([...node.attributes].map(([name, attribute]): [string, Attribute] => [name, cloneAttribute(attribute)])),
    metadata: new Map(node.metadata),
  };
}

/** Attributes are never changed in place, except the graphs in them. */
function cloneAttribute(attribute: Attribute): Attribute {
  if (attribute.kind === 'graph') return { kind: 'graph', value: cloneGraph(attribute.value) };
  if (attribute.kind === 'graphs') return { kind: 'graphs', value: attribute.value.map(cloneGraph) };
  return attribute;
}
