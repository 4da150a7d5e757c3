/** What is an ONNX model in memory? Tables of nodes and values that refer to each other by id; names are labels for files and messages. */
import type { Brand } from '../../base/brand.js';
import type { DType } from '../../tensor/dtype.js';
import type { RawTensor, Tensor } from '../../tensor/tensor.js';

/** Unique in a whole model, sub-graphs included; never reused. */
export type NodeId = Brand<number, 'NodeId'>;
/** Unique in a whole model, sub-graphs included; never reused. */
export type ValueId = Brand<number, 'ValueId'>;

/** A size, a named unknown size, or undefined: an unknown size without a name. */
export type Dim = number | string | undefined;

export type ValueType =
  /** `dims` undefined: of unknown rank. `dtype` undefined: of unknown element type. */
  | {
      readonly kind: 'tensor';
      readonly dtype: DType | undefined;
      readonly dims: readonly Dim[] | undefined;
      /** What the type, and each size, stands for ("IMAGE", "DATA_BATCH"): kept, and lost where the type is inferred anew. */
      readonly denotation?: string;
      readonly dimDenotations?: readonly (string | undefined)[];
      readonly unknown?: UnknownInType;
    }
  /** Sequence, optional, map, sparse tensor: kept as its TypeProto's bytes. */
  | { readonly kind: 'other'; readonly bytes: Uint8Array };

/** Fields that this library does not interpret, in the messages that a tensor's type is made of. */
export interface UnknownInType {
  readonly type: UnknownFields;
  readonly tensor: UnknownFields;
  readonly shape: UnknownFields;
  readonly dims: readonly UnknownFields[];
}

/** A constant: raw bytes (zero-copy from the file where possible), or strings. */
export type Constant = RawTensor | Tensor<'string'>;

/** Protobuf fields that this library does not interpret, kept byte for byte for the next write. */
export type UnknownFields = readonly Uint8Array[];

/** A constant in an attribute, with what its message says beside it. */
export interface NamedConstant {
  readonly value: Constant;
  readonly name: string;
  readonly notes?: { readonly docString: string; readonly metadata: ReadonlyMap<string, string>; readonly unknown: UnknownFields };
}

/** What an attribute's message says beside its value: kept until the attribute is set anew. */
export interface AttributeNotes {
  readonly docString?: string;
  readonly unknown?: UnknownFields;
}

export type Attribute = AttributeNotes & AttributeValue;

export type AttributeValue =
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'string'; readonly value: Uint8Array }
  | ({ readonly kind: 'tensor' } & NamedConstant)
  | { readonly kind: 'graph'; readonly value: Graph }
  | { readonly kind: 'floats'; readonly value: readonly number[] }
  | { readonly kind: 'ints'; readonly value: readonly bigint[] }
  | { readonly kind: 'strings'; readonly value: readonly Uint8Array[] }
  | { readonly kind: 'tensors'; readonly value: readonly NamedConstant[] }
  | { readonly kind: 'graphs'; readonly value: readonly Graph[] }
  /** A reference to the enclosing function's attribute. */
  | { readonly kind: 'ref'; readonly refName: string; readonly attributeType: number }
  /** Type and sparse-tensor attributes: kept as the AttributeProto's bytes. */
  | { readonly kind: 'other'; readonly bytes: Uint8Array };

export interface Value {
  readonly id: ValueId;
  /** Unique in its graph; never empty. */
  name: string;
  type: ValueType | undefined;
  /** The node whose output this is; undefined for graph inputs, initializers and nothing else. */
  producer: NodeId | undefined;
  /** Set for an initializer (which may also be a graph input with a default). */
  constant: Constant | undefined;
  docString: string;
  metadata: Map<string, string>;
  unknown: UnknownFields;
}

export interface Node {
  readonly id: NodeId;
  /** May be empty: ONNX does not ask for node names. */
  name: string;
  opType: string;
  /** '' is the ONNX domain ("ai.onnx" is read as ''). */
  domain: string;
  overload: string;
  /** undefined: an optional input left out. */
  inputs: (ValueId | undefined)[];
  /** undefined: an optional output left out. */
  outputs: (ValueId | undefined)[];
  attributes: Map<string, Attribute>;
  docString: string;
  metadata: Map<string, string>;
  unknown: UnknownFields;
}

/**
 * A graph owns its nodes (in file order, which is topological after `sortTopologically`) and its values.
 * A node in a sub-graph may refer to values that an enclosing graph owns.
 */
export interface Graph {
  name: string;
  readonly nodes: Map<NodeId, Node>;
  readonly values: Map<ValueId, Value>;
  inputs: ValueId[];
  outputs: ValueId[];
  docString: string;
  metadata: Map<string, string>;
  /** `quantization_annotation` and `sparse_initializer` stand here too. */
  unknown: UnknownFields;
}

export interface Model {
  irVersion: number;
  /** Domain → version; the ONNX domain is ''. */
  opsets: Map<string, number>;
  producerName: string;
  producerVersion: string;
  domain: string;
  modelVersion: bigint;
  docString: string;
  metadata: Map<string, string>;
  graph: Graph;
  /** Model-local functions, training info and whatever else is not interpreted: ModelProto fields, byte for byte. */
  unknown: UnknownFields;
  /** The next free id: see `ir/edit`. */
  nextId: number;
}
