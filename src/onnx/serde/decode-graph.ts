/** Decoding of GraphProto messages into tables of nodes and values. Names are resolved to ids, including names of outer graphs. */
import type { Attribute, Graph, Node, NodeId, Value, ValueId, ValueType } from '../ir/model.js';
import type { GraphProto, NodeProto, ValueInfoProto } from '../proto/generated/messages.js';
import { decodeAttribute } from './decode-attribute.js';
import { decodeEntries } from './entries.js';
import type { ReadExternal } from './external-data.js';
import { malformed } from './malformed.js';
import { decodeTensorProto } from './tensor-proto.js';
import { decodeValueType } from './value-type.js';

export interface GraphDecoder {
  /** The bytes from which the messages were decoded. */
  readonly source: Uint8Array;
  /** The next free id of the model. */
  readonly takeId: () => number;
  readonly readExternal: ReadExternal | undefined;
}

/** The names that a graph defines, and the scope of the outer graph. */
interface Scope {
  readonly names: Map<string, ValueId>;
  readonly outer: Scope | undefined;
}

/**
 * An undefined name becomes a value without a producer. A name that is defined twice becomes two values, of which the first is used. `check` reports both cases.
 */
export function decodeGraph(proto: GraphProto, decoder: GraphDecoder, outer: Scope | undefined): Graph {
  const graph: Graph = {
    name: proto.name ?? '',
    nodes: new Map(),
    values: new Map(),
    inputs: [],
    outputs: [],
    docString: proto.docString ?? '',
    metadata: decodeEntries(proto.metadataProps),
    unknown: proto.unknown ?? [],
  };
  const scope: Scope = { names: new Map(), outer };
  defineInitializers(graph, proto, decoder, scope);
  defineInputs(graph, proto, decoder, scope);
  const nodes = (proto.node ?? []).map(node => ({ proto: node, node: defineNode(graph, node, decoder, scope) }));
  describeValues(graph, proto, decoder, scope);
  for (const { proto: nodeProto, node } of nodes) {
    node.inputs = (nodeProto.input ?? []).map(name => (name === '' ? undefined : resolve(graph, name, decoder, scope)));
    decodeAttributes(node, nodeProto, decoder, scope);
  }
  graph.outputs = (proto.output ?? []).map(info => {
    const id = resolve(graph, getName(info.name, 'a graph output'), decoder, scope);
    const value = graph.values.get(id);
    if (value !== undefined) describe(value, info, decoder);
    return id;
  });
  return graph;
}

function defineInitializers(graph: Graph, proto: GraphProto, decoder: GraphDecoder, scope: Scope): void {
  for (const tensor of proto.initializer ?? []) {
    const constant = decodeTensorProto(tensor, decoder.readExternal);
    const value = define(graph, getName(tensor.name, 'an initializer'), decoder, scope);
    value.constant = constant;
    value.type = { kind: 'tensor', dtype: constant.dtype, dims: constant.dims };
    value.docString = tensor.docString ?? '';
    value.metadata = decodeEntries(tensor.metadataProps);
    value.unknown = tensor.unknown ?? [];
  }
}

function defineInputs(graph: Graph, proto: GraphProto, decoder: GraphDecoder, scope: Scope): void {
  const seen = new Set<ValueId>();
  for (const info of proto.input ?? []) {
    const name = getName(info.name, 'a graph input');
    const initializer = graph.values.get(scope.names.get(name) ?? (0 as ValueId));
    const value = initializer === undefined || seen.has(initializer.id) ? define(graph, name, decoder, scope) : initializer;
    seen.add(value.id);
    if (info.type !== undefined) value.type = decodeValueType(info.type, decoder.source);
    describe(value, info, decoder);
    graph.inputs.push(value.id);
  }
}

function defineNode(graph: Graph, proto: NodeProto, decoder: GraphDecoder, scope: Scope): Node {
  const id = decoder.takeId() as NodeId;
  const outputs = (proto.output ?? []).map(name => {
    if (name === '') return undefined;
    const value = define(graph, name, decoder, scope);
    value.producer = id;
    return value.id;
  });
  const node: Node = {
    id,
    name: proto.name ?? '',
    opType: proto.opType ?? '',
    domain: decodeDomain(proto.domain),
    overload: proto.overload ?? '',
    inputs: [],
    outputs,
    attributes: new Map(),
    docString: proto.docString ?? '',
    metadata: decodeEntries(proto.metadataProps),
    unknown: proto.unknown ?? [],
  };
  graph.nodes.set(id, node);
  return node;
}

/** The domain, with '' for both spellings of the ONNX domain. */
export function decodeDomain(domain: string | undefined): string {
  return domain === undefined || domain === 'ai.onnx' ? '' : domain;
}

function decodeAttributes(node: Node, proto: NodeProto, decoder: GraphDecoder, scope: Scope): void {
  for (const attribute of proto.attribute ?? []) {
    const name = attribute.name ?? '';
    if (node.attributes.has(name)) throw malformed(`${node.opType} "${node.name}" has the attribute "${name}" twice`);
    const decoded: Attribute = decodeAttribute(attribute, {
      source: decoder.source,
      decodeTensor: tensor => decodeTensorProto(tensor, decoder.readExternal),
      decodeGraph: sub => decodeGraph(sub, decoder, scope),
    });
    node.attributes.set(name, decoded);
  }
}

/** Adds value_info to the values that nodes produce; inputs and initializers already have types. An unknown name becomes an unused value. */
function describeValues(graph: Graph, proto: GraphProto, decoder: GraphDecoder, scope: Scope): void {
  for (const info of proto.valueInfo ?? []) {
    const { name = '' } = info;
    const id = scope.names.get(name);
    const value = id === undefined ? undefined : graph.values.get(id);
    if (value !== undefined) describe(value, info, decoder);
    else if (name !== '' && !isInOuter(name, scope)) describe(define(graph, name, decoder, scope), info, decoder);
  }
}

/** Whether an outer graph defines the name. */
function isInOuter(name: string, { outer }: Scope): boolean {
  return outer !== undefined && (outer.names.has(name) || isInOuter(name, outer));
}

function describe(value: Value, info: ValueInfoProto, decoder: GraphDecoder): void {
  const type: ValueType | undefined = info.type === undefined ? undefined : decodeValueType(info.type, decoder.source);
  value.type ??= type;
  if (value.docString === '') value.docString = info.docString ?? '';
  if (value.metadata.size === 0) value.metadata = decodeEntries(info.metadataProps);
  if (value.unknown.length === 0) value.unknown = info.unknown ?? [];
}

function define(graph: Graph, name: string, decoder: GraphDecoder, scope: Scope): Value {
  const value: Value = {
    id: decoder.takeId() as ValueId,
    name,
    type: undefined,
    producer: undefined,
    constant: undefined,
    docString: '',
    metadata: new Map(),
    unknown: [],
  };
  graph.values.set(value.id, value);
  if (!scope.names.has(name)) scope.names.set(name, value.id);
  return value;
}

function resolve(graph: Graph, name: string, decoder: GraphDecoder, scope: Scope): ValueId {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    const id = at.names.get(name);
    if (id !== undefined) return id;
  }
  return define(graph, name, decoder, scope).id;
}

function getName(name: string | undefined, what: string): string {
  if (name === undefined || name === '') throw malformed(`${what} has no name`);
  return name;
}
