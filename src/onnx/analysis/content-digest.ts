/** The content digest of a model: structure, attributes and weights, independent of names, comments and file order. */
import { assertNever } from '../../base/assert-never.js';
import { type Digest, digestBytes, digestJson } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import type { Json } from '../../base/json.js';
import type { RawTensor } from '../../tensor/tensor.js';
import type { Attribute, Constant, Graph, Model, Node, ValueId, ValueType } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { findTopologicalOrder } from '../ir/sort.js';
import { findFileRange } from '../serde/file-constant.js';

/**
 * The digest of what a model computes. It covers operator sets, nodes with attributes and connections, weights with dtype and shape, types of the inputs,
 * and the order of inputs and outputs. It ignores names of nodes, values, graphs and dims (but not which dims share a name), doc strings, metadata,
 * producer, the order of nodes in the file, and whether weights are stored inside the file. Uninterpreted fields are included byte for byte.
 *
 * The digest of a node includes the digests of its inputs, so node order does not matter; equal nodes have equal digests, and their number is included.
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

interface DigestScope {
  /** Digests of the values of the outer graphs. */
  readonly outer: ReadonlyMap<ValueId, Digest>;
  /** Dim names in the order of their first use. */
  readonly dimNames: Map<string, number>;
  readonly depth: number;
}

/**
 * The digest of each value of the main graph: how it is computed from inputs and weights. Models of equal content have equal digests for corresponding values;
 * values of one model that are equal by construction share a digest. It identifies a value independently of its name.
 * @throws OnnxError `graph-cycle`.
 */
export function digestValues(model: Model): ReadonlyMap<ValueId, Digest> {
  return digestParts(model.graph, outermost()).values;
}

const outermost = (): DigestScope => ({ outer: new Map(), dimNames: new Map(), depth: 0 });

function digestGraph(graph: Graph, scope: DigestScope): Digest {
  const { nodes, values } = digestParts(graph, scope);
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

function digestParts(graph: Graph, scope: DigestScope): PartDigests {
  const digests = new Map(scope.outer);
  for (const { id, constant } of graph.values.values()) if (constant !== undefined) digests.set(id, digestConstant(constant));
  for (const [index, id] of graph.inputs.entries()) {
    const type = describeType(graph.values.get(id)?.type, scope.dimNames);
    digests.set(id, digestJson({ input: index, depth: scope.depth, type, otherwise: digests.get(id) ?? null }));
  }
  const found = findTopologicalOrder(graph);
  if (found.kind === 'cycle') throw new OnnxError('graph-cycle', `graph "${graph.name}" has a cycle, so its content has no digest`);
  const digestOf = (id: ValueId | undefined): Json => {
    if (id === undefined) return null;
    return digests.get(id) ?? { undefined: graph.values.get(id)?.name ?? '' };
  };
  const nodes = found.nodes.map(node => {
    const digest = digestNode(node, digestOf, { ...scope, outer: digests, depth: scope.depth + 1 });
    for (const [index, output] of node.outputs.entries())
      if (output !== undefined) digests.set(output, digestJson({ node: digest, output: index }));
    return digest;
  });
  return { nodes, values: digests };
}

function digestNode(node: Node, digestOf: (id: ValueId | undefined) => Json, scope: DigestScope): Digest {
  const attributes = [...node.attributes].sort(([a], [b]) => (a < b ? -1 : 1));
  return digestJson({
    operator: [node.domain, node.opType, node.overload],
    inputs: node.inputs.slice(0, node.inputs.findLastIndex(input => input !== undefined) + 1).map(digestOf),
    outputs: node.outputs.map(output => output !== undefined),
    attributes: attributes.map(([name, attribute]) => [
      name,
      describeAttribute(attribute, { ...scope, dimNames: new Map(scope.dimNames) }),
    ]),
    uninterpreted: node.unknown.map(digestBytes),
  });
}

/** Smaller constants take no time worth saving. */
const LARGE_BYTES = 1 << 16;

/** The constants of the main graph that take longest to digest: those in memory, in the order of the file. */
export function findLargeConstants({ graph }: Model): readonly RawTensor[] {
  return [...graph.values.values()].flatMap(({ constant }) => {
    const isLarge = constant !== undefined && 'bytes' in constant && findFileRange(constant) === undefined;
    return isLarge && constant.bytes.byteLength >= LARGE_BYTES ? [constant] : [];
  });
}

/** The digest of each large constant. */
export function digestLargeConstants(model: Model): readonly Digest[] {
  return findLargeConstants(model).map(digestConstant);
}

/** Takes what `digestLargeConstants` gave for a model that was read from the same bytes, so that they are not digested again. Another number of digests is not taken. */
export function takeConstantDigests(model: Model, digests: readonly Digest[]): void {
  const constants = findLargeConstants(model);
  if (constants.length !== digests.length) return;
  for (const [index, digest] of digests.entries()) constantDigests.set(getDefined(constants[index], 'constant'), digest);
}

/** Digests of constants. Edits replace constants and never write into them, so their bytes are digested only once. */
const constantDigests = new WeakMap<Constant, Digest>();

function digestConstant(constant: Constant): Digest {
  const known = constantDigests.get(constant);
  if (known !== undefined) return known;
  const content = 'data' in constant ? digestJson([...constant.data]) : digestBytes(constant.bytes);
  const digest = digestJson({ dtype: constant.dtype, dims: [...constant.dims], content });
  constantDigests.set(constant, digest);
  return digest;
}

function describeType(type: ValueType | undefined, dimNames: Map<string, number>): Json {
  if (type === undefined) return null;
  if (type.kind === 'other') return { other: digestBytes(type.bytes) };
  const numberOf = (name: string): number => {
    const known = dimNames.get(name) ?? dimNames.size;
    dimNames.set(name, known);
    return known;
  };
  const dims = type.dims?.map(dim => (typeof dim === 'string' ? { named: numberOf(dim) } : (dim ?? null)));
  return { dtype: type.dtype ?? null, dims: dims ?? null };
}

/** A float as a text that is distinct for distinct floats, including −0, infinities and NaN. */
function describeFloat(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function describeAttribute(attribute: Attribute, scope: DigestScope): Json {
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
      return { kind, value: digestGraph(attribute.value, scope) };
    case 'floats':
      return { kind, value: attribute.value.map(describeFloat) };
    case 'ints':
      return { kind, value: attribute.value.map(String) };
    case 'strings':
      return { kind, value: attribute.value.map(digestBytes) };
    case 'tensors':
      return { kind, value: attribute.value.map(({ value }) => digestConstant(value)) };
    case 'graphs':
      return { kind, value: attribute.value.map(graph => digestGraph(graph, scope)) };
    case 'ref':
      return { kind, value: [attribute.refName, attribute.attributeType] };
    case 'other':
      return { kind, value: digestBytes(attribute.bytes) };
    default:
      return assertNever(attribute);
  }
}
