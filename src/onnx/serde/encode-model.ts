/** Encoding of models as ONNX files. Equal models give equal bytes. */
import { formatBytes } from '../../base/text/format.js';
import { DTYPES } from '../../tensor/dtype.js';
import { getValue } from '../ir/edit.js';
import type { Constant, Graph, Model, Node, Value, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { encodeChunks, joinChunks, sizeOfChunks } from '../proto/codec/encode-message.js';
import type { GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, ValueInfoProto } from '../proto/generated/messages.js';
import { encodeAttribute } from './encode-attribute.js';
import { encodeEntries } from './entries.js';
import type { ExternalLocation } from './external-data.js';
import { byteLengthOf } from './file-constant.js';
import { encodeTensorProto } from './tensor-proto.js';
import { encodeValueType } from './value-type.js';

export interface EncodeOptions {
  /** Called for each initializer in file order: returns its location outside the file, or undefined to keep it inside. */
  readonly placeExternal?: (constant: Constant, name: string) => ExternalLocation | undefined;
}

/** Maximum size of a protobuf message, and so of an ONNX file. */
export const MAX_MODEL_BYTES = 2 ** 31 - 1;

/** Names of values by id, including those of outer graphs. */
type FindName = (id: ValueId) => string;

/** @throws OnnxError `model-too-large` if the result would exceed 2 GiB. */
export function encodeModel(model: Model, options: EncodeOptions = {}): Uint8Array {
  return joinChunks(encodeModelChunks(model, options));
}

/** The same bytes as chunks in order; weights are views of the model's data. */
export function encodeModelChunks(model: Model, options: EncodeOptions = {}): readonly Uint8Array[] {
  const chunks = encodeChunks('ModelProto', makeProto(model, options));
  if (sizeOfChunks(chunks) > MAX_MODEL_BYTES) throw tooLarge(sizeOfChunks(chunks));
  return chunks;
}

function makeProto(model: Model, options: EncodeOptions): ModelProto {
  return {
    irVersion: BigInt(model.irVersion),
    producerName: orAbsent(model.producerName),
    producerVersion: orAbsent(model.producerVersion),
    domain: orAbsent(model.domain),
    modelVersion: model.modelVersion === 0n ? undefined : model.modelVersion,
    docString: orAbsent(model.docString),
    graph: encodeGraph(model.graph, countingInside(options), id => getValue(model.graph, id).name),
    opsetImport: [...model.opsets].map(([domain, version]): OperatorSetIdProto => ({ domain: orAbsent(domain), version: BigInt(version) })),
    metadataProps: encodeEntries(model.metadata),
    unknown: model.unknown,
  };
}

/** Checks the total size of initializers inside the file before they are read or copied. */
function countingInside({ placeExternal }: EncodeOptions): EncodeOptions {
  let size = 0;
  return {
    placeExternal(constant, name) {
      const location = placeExternal?.(constant, name);
      if (location === undefined && 'bytes' in constant) size += byteLengthOf(constant);
      if (size > MAX_MODEL_BYTES) throw tooLarge(size);
      return location;
    },
  };
}

function tooLarge(sizeBytes: number): OnnxError {
  return new OnnxError('model-too-large', `the model has at least ${formatBytes(sizeBytes)} of weights; an ONNX file can hold 2 GiB`, {
    help: 'write the weights as external data',
  });
}

function encodeGraph(graph: Graph, options: EncodeOptions, findOuterName: FindName): GraphProto {
  const nameOf: FindName = id => graph.values.get(id)?.name ?? findOuterName(id);
  const typeOf = (id: ValueId): ValueInfoProto => {
    const value = graph.values.get(id);
    return value === undefined ? { name: nameOf(id) } : encodeValueInfo(value);
  };
  const interfaceIds = new Set([...graph.inputs, ...graph.outputs]);
  const values = [...graph.values.values()];
  return {
    node: [...graph.nodes.values()].map(node => encodeNode(node, options, nameOf)),
    name: orAbsent(graph.name),
    initializer: values.flatMap(value => (value.constant === undefined ? [] : [encodeInitializer(value, value.constant, options)])),
    docString: orAbsent(graph.docString),
    input: graph.inputs.map(typeOf),
    output: graph.outputs.map(typeOf),
    valueInfo: inOrderOfNodes(graph)
      .filter(value => value.type !== undefined && value.constant === undefined && !interfaceIds.has(value.id))
      .map(encodeValueInfo),
    metadataProps: encodeEntries(graph.metadata),
    unknown: graph.unknown,
  };
}

/** Outputs of nodes in order, then the other values: an edited graph is written in the order in which it would be decoded. */
function inOrderOfNodes({ nodes, values }: Graph): readonly Value[] {
  const ordered = new Set<Value>();
  for (const { outputs } of nodes.values()) {
    for (const id of outputs) {
      const value = id === undefined ? undefined : values.get(id);
      if (value !== undefined) ordered.add(value);
    }
  }
  for (const value of values.values()) ordered.add(value);
  return [...ordered];
}

function encodeInitializer(value: Value, constant: Constant, options: EncodeOptions): TensorProto {
  const external = options.placeExternal?.(constant, value.name);
  return {
    ...encodeTensorProto(constant, value.name, DTYPES[constant.dtype].onnx, external),
    docString: orAbsent(value.docString),
    metadataProps: encodeEntries(value.metadata),
    unknown: value.unknown,
  };
}

/** Fields that are already in the TensorProto of a constant are not repeated. */
function encodeValueInfo(value: Value): ValueInfoProto {
  const type = value.type === undefined ? undefined : encodeValueType(value.type);
  if (value.constant !== undefined) return { name: value.name, type };
  return {
    name: value.name,
    type,
    docString: orAbsent(value.docString),
    metadataProps: encodeEntries(value.metadata),
    unknown: value.unknown,
  };
}

function encodeNode(node: Node, options: EncodeOptions, nameOf: FindName): NodeProto {
  const nameOrEmpty = (id: ValueId | undefined): string => (id === undefined ? '' : nameOf(id));
  return {
    input: node.inputs.map(nameOrEmpty),
    output: node.outputs.map(nameOrEmpty),
    name: orAbsent(node.name),
    opType: node.opType,
    attribute: [...node.attributes].map(([name, attribute]) => encodeAttribute(name, attribute, sub => encodeGraph(sub, options, nameOf))),
    docString: orAbsent(node.docString),
    domain: orAbsent(node.domain),
    overload: orAbsent(node.overload),
    metadataProps: encodeEntries(node.metadata),
    unknown: node.unknown,
  };
}

function orAbsent(text: string): string | undefined {
  return text === '' ? undefined : text;
}
