/** Copying of a graph into another model with new ids; taken names get a number. Also aligns the operator sets of two models. */
import { cloneGraph, cloneNode, cloneValue } from '../ir/clone.js';

import type { Attribute, Graph, Model, Node, NodeId, Value, ValueId } from '../ir/model.js';
import { makeNameScope } from '../ir/name-scope.js';
import { OnnxError } from '../ir/onnx-error.js';
import { convertOpset } from '../opset/convert-opset.js';
import { renameInAnnotations } from './annotations.js';
import type { Rename } from './rename.js';

export interface Spliced {
  /** From values of the source to those of the target. */
  readonly ids: ReadonlyMap<ValueId, ValueId>;
  /** Values and nodes that were renamed because their names were taken. */
  readonly renamed: readonly Rename[];
}

/**
 * Appends nodes, values and annotations of `source` to the graph of `target`. Values in `bound` are not copied; the copies read the given values of the target
 * instead. Inputs and outputs of the target are not changed; `source` is not edited.
 */
export function spliceGraph(target: Model, source: Graph, bound: ReadonlyMap<ValueId, ValueId>): Spliced {
  const scope = makeNameScope(target.graph);
  const nodeNames = new Set([...target.graph.nodes.values()].map(({ name }) => name));
  const ids = new Map<ValueId, ValueId>(bound);
  const renamed: Rename[] = [];
  const takeId = (): number => target.nextId++;
  for (const value of source.values.values()) {
    if (bound.has(value.id)) continue;
    const copy = copyValue(value, takeId() as ValueId, scope.take(value.name));
    if (copy.name !== value.name) renamed.push({ from: value.name, to: copy.name });
    ids.set(value.id, copy.id);
    target.graph.values.set(copy.id, copy);
  }
  for (const node of source.nodes.values()) {
    const copy = copyNode(node, ids, takeId, scope.take);
    copy.name = takeNodeName(nodeNames, node.name);
    if (copy.name !== node.name) renamed.push({ from: node.name, to: copy.name });
    target.graph.nodes.set(copy.id, copy);
    for (const output of copy.outputs) {
      const value = output === undefined ? undefined : target.graph.values.get(output);
      if (value !== undefined) value.producer = copy.id;
    }
  }
  const names = [...source.values.values()].map(({ id, name }) => [name, nameIn(target.graph, ids.get(id)) ?? name] as const);
  target.graph.unknown = [...target.graph.unknown, ...renameInAnnotations(source.unknown, new Map(names))];
  return { ids, renamed };
}

function nameIn(graph: Graph, id: ValueId | undefined): string | undefined {
  return id === undefined ? undefined : graph.values.get(id)?.name;
}

function copyValue(value: Value, id: ValueId, name: string): Value {
  return { ...cloneValue(value), id, name, producer: undefined };
}

type TakeName = (wanted: string) => string;

function copyNode(node: Node, ids: Map<ValueId, ValueId>, takeId: () => number, takeName: TakeName): Node {
  const idOf = (id: ValueId | undefined): ValueId | undefined => (id === undefined ? undefined : ids.get(id));
  const attributes = [...node.attributes].map(([name, attribute]): [string, Attribute] => {
    if (attribute.kind === 'graph') return [name, { ...attribute, value: copyInner(attribute.value, ids, takeId, takeName) }];
    if (attribute.kind === 'graphs')
      return [name, { ...attribute, value: attribute.value.map(graph => copyInner(graph, ids, takeId, takeName)) }];
    return [name, attribute];
  });
  const copy = cloneNode({ ...node, attributes: new Map() });
  return {
    ...copy,
    id: takeId() as NodeId,
    inputs: node.inputs.map(idOf),
    outputs: node.outputs.map(idOf),
    attributes: new Map(attributes),
  };
}

/** A copy of a subgraph with new ids; values of outer graphs are already mapped. */
function copyInner(graph: Graph, outer: ReadonlyMap<ValueId, ValueId>, takeId: () => number, takeName: TakeName): Graph {
  const ids = new Map(outer);
  const values = new Map<ValueId, Value>();
  for (const value of graph.values.values()) {
    const copy = copyValue(value, takeId() as ValueId, takeName(value.name));
    ids.set(value.id, copy.id);
    values.set(copy.id, copy);
  }
  const nodes = new Map<NodeId, Node>();
  for (const node of graph.nodes.values()) {
    const copy = copyNode(node, ids, takeId, takeName);
    nodes.set(copy.id, copy);
    for (const output of copy.outputs) {
      const value = output === undefined ? undefined : values.get(output);
      if (value !== undefined) value.producer = copy.id;
    }
  }
  const idOf = (id: ValueId): ValueId => ids.get(id) ?? id;
  return {
    ...cloneGraph({ ...graph, nodes: new Map(), values: new Map() }),
    nodes,
    values,
    inputs: graph.inputs.map(idOf),
    outputs: graph.outputs.map(idOf),
  };
}

function takeNodeName(taken: Set<string>, wanted: string): string {
  let name = wanted;
  for (let n = 1; name !== '' && taken.has(name); n++) name = `${wanted}_${n}`;
  taken.add(name);
  return name;
}

/**
 * Converts two models to common operator sets: the higher version of the ONNX domain. Other domains must have equal versions.
 * @throws OnnxError `opset-conversion`; `opsets-differ` for another domain.
 */
export function alignOpsets(first: Model, second: Model): void {
  const newest = Math.max(first.opsets.get('') ?? 0, second.opsets.get('') ?? 0);
  for (const [one, other] of [
    [first, second],
    [second, first],
  ] as const) {
    if (one.opsets.has('') && newest > 0) convertOpset(one, newest);
    for (const [domain, version] of other.opsets) {
      const own = one.opsets.get(domain) ?? version;
      if (domain !== '' && own !== version) {
        throw new OnnxError('opsets-differ', `the models have operator sets ${own} and ${version} of domain "${domain}"`, {
          help: 'export one of them again',
        });
      }
      one.opsets.set(domain, domain === '' ? newest : own);
    }
  }
  const irVersion = Math.max(first.irVersion, second.irVersion);
  for (const model of [first, second]) model.irVersion = irVersion;
}
