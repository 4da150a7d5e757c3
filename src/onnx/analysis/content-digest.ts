/** When do two models compute the same by construction? When structure, attributes and weights are equal; names, comments and file order do not count. */
import { assertNever } from '../../base/assert-never.js';
import { type Digest, digestBytes, digestJson } from '../../base/digest.js';
import type { Json } from '../../base/json.js';
import type { Attribute, Constant, Graph, Model, Node, ValueId, ValueType } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { findTopologicalOrder } from '../ir/sort.js';

/**
 * The identity of what a model computes. It covers operator sets, nodes with attributes and connections, weights with dtype and shape, types of the inputs,
 * and the order of inputs and outputs. It ignores names of nodes, values, graphs and named sizes (which sizes have one name counts), doc strings, metadata,
 * producer, the order of nodes in the file, and whether weights lie inside the file. Fields that are not interpreted count byte for byte.
 *
 * A node's digest is made of the digests of what it reads, so nodes need no order; equal nodes have equal digests, and their number counts.
 * @throws OnnxError `graph-cycle`.
 */
export function digestModelContent(model: Model): Digest {
  const graph = digestGraph(model.graph, outermost());
  return digestJson({
    opsets: [...model.opsets].sort(([a], [b]) => (a < b ? -1 : 1)).map(([domain, version]) => [domain, version]),
    graph,
    uninterpreted: model.unknown.map(digestBytes),
  });
}

interface Surroundings {
  /** Digests of the values of the enclosing graphs. */
  readonly outer: ReadonlyMap<ValueId, Digest>;
  /** Named sizes in the order of their first use. */
  readonly sizeNames: Map<string, number>;
  readonly depth: number;
}

/**
 * The identity of each value of the main graph: what it is computed from, down to inputs and weights. Two models of equal content give equal digests to
 * corresponding values; values of one model that are equal by construction share theirs. It names a value where names do not count.
 * @throws OnnxError `graph-cycle`.
 */
export function digestValues(model: Model): ReadonlyMap<ValueId, Digest> {
  return digestParts(model.graph, outermost()).values;
}

const outermost = (): Surroundings => ({ outer: new Map(), sizeNames: new Map(), depth: 0 });

function digestGraph(graph: Graph, around: Surroundings): Digest {
  const { nodes, values } = digestParts(graph, around);
  const digestOf = (id: ValueId): Json => values.get(id) ?? { undefined: graph.values.get(id)?.name ?? '' };
  return digestJson({
    inputs: graph.inputs.map(digestOf),
    nodes: [...nodes].sort(),
    outputs: graph.outputs.map(digestOf),
    uninterpreted: graph.unknown.map(digestBytes),
  });
}

interface PartDigests {
  readonly nodes: readonly Digest[];
  readonly values: ReadonlyMap<ValueId, Digest>;
}

function digestParts(graph: Graph, around: Surroundings): PartDigests {
  const digests = new Map(around.outer);
  for (const { id, constant } of graph.values.values()) if (constant !== undefined) digests.set(id, digestConstant(constant));
  for (const [index, id] of graph.inputs.entries()) {
    const type = describeType(graph.values.get(id)?.type, around.sizeNames);
    digests.set(id, digestJson({ input: index, depth: around.depth, type, otherwise: digests.get(id) ?? null }));
  }
  const found = findTopologicalOrder(graph);
  if (found.kind === 'cycle') throw new OnnxError('graph-cycle', `graph "${graph.name}" has a cycle, so its content has no digest`);
  const digestOf = (id: ValueId | undefined): Json => {
    if (id === undefined) return null;
    return digests.get(id) ?? { undefined: graph.values.get(id)?.name ?? '' };
  };
  const nodes = found.nodes.map(node => {
    const digest = digestNode(node, digestOf, { ...around, outer: digests, depth: around.depth + 1 });
    for (const [index, output] of node.outputs.entries())
      if (output !== undefined) digests.set(output, digestJson({ node: digest, output: index }));
    return digest;
  });
  return { nodes, values: digests };
}

function digestNode(node: Node, digestOf: (id: ValueId | undefined) => Json, around: Surroundings): Digest {
  const attributes = [...node.attributes].sort(([a], [b]) => (a < b ? -1 : 1));
  return digestJson({
    operator: [node.domain, node.opType, node.overload],
    inputs: node.inputs.slice(0, node.inputs.findLastIndex(input => input !== undefined) + 1).map(digestOf),
    outputs: node.outputs.map(output => output !== undefined),
    attributes: attributes.map(([name, attribute]) => [
      name,
      describeAttribute(attribute, { ...around, sizeNames: new Map(around.sizeNames) }),
    ]),
    uninterpreted: node.unknown.map(digestBytes),
  });
}

/** Constants are values: an edit replaces one, and never writes into it. So the bytes of a model are read once for all its digests. */
const ofConstants = new WeakMap<Constant, Digest>();

function digestConstant(constant: Constant): Digest {
  const known = ofConstants.get(constant);
  if (known !== undefined) return known;
  const content = 'data' in constant ? digestJson([...constant.data]) : digestBytes(constant.bytes);
  const digest = digestJson({ dtype: constant.dtype, dims: [...constant.dims], content });
  ofConstants.set(constant, digest);
  return digest;
}

function describeType(type: ValueType | undefined, sizeNames: Map<string, number>): Json {
  if (type === undefined) return null;
  if (type.kind === 'other') return { other: digestBytes(type.bytes) };
  const numberOf = (name: string): number => {
    const known = sizeNames.get(name) ?? sizeNames.size;
    sizeNames.set(name, known);
    return known;
  };
  const dims = type.dims?.map(dim => (typeof dim === 'string' ? { named: numberOf(dim) } : (dim ?? null)));
  return { dtype: type.dtype ?? null, dims: dims ?? null };
}

/** A float as the text that tells all floats apart, −0, infinities and NaN too. */
function describeFloat(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function describeAttribute(attribute: Attribute, around: Surroundings): Json {
  const { kind } = attribute;
  switch (kind) {
    case 'float':
      return { kind, value: describeFloat(attribute.value) };
    case 'int':
      return { kind, value: String(attribute.value) };
    case 'string':
      return { kind, value: digestBytes(attribute.value) };
    case 'tensor':
      return { kind, value: digestConstant(attribute.value) };
    case 'graph':
      return { kind, value: digestGraph(attribute.value, around) };
    case 'floats':
      return { kind, value: attribute.value.map(describeFloat) };
    case 'ints':
      return { kind, value: attribute.value.map(String) };
    case 'strings':
      return { kind, value: attribute.value.map(digestBytes) };
    case 'tensors':
      return { kind, value: attribute.value.map(({ value }) => digestConstant(value)) };
    case 'graphs':
      return { kind, value: attribute.value.map(graph => digestGraph(graph, around)) };
    case 'ref':
      return { kind, value: [attribute.refName, attribute.attributeType] };
    case 'other':
      return { kind, value: digestBytes(attribute.bytes) };
    default:
      return assertNever(attribute);
  }
}
