/** The in-memory representation of an ONNX model: tables of nodes and values that refer to each other by id. Names are labels for files and messages. */
import type { Brand } from '../../base/brand.js';
import type { DType } from '../../tensor/dtype.js';
import type { RawTensor, Tensor } from '../../tensor/tensor.js';

/** Unique in a model, including its subgraphs; never reused. */
export type NodeId = Brand<number, 'NodeId'>;
/** Unique in a model, including its subgraphs; never reused. */
export type ValueId = Brand<number, 'ValueId'>;

/** A known dim, the name of a symbolic dim, or undefined for an unknown dim without a name. */
export type Dim = number | string | undefined;

export type ValueType =
  /** `dims` undefined: unknown rank. `dtype` undefined: unknown element type. */
  | {
      readonly kind: 'tensor';
      readonly dtype: DType | undefined;
      readonly dims: readonly Dim[] | undefined;
      /** Denotations of the type and of each dim ("IMAGE", "DATA_BATCH"). They are lost when the type is inferred again. */
      readonly denotation?: string;
      readonly dimDenotations?: readonly (string | undefined)[];
      readonly unknown?: UnknownInType;
    }
  /** Sequence, optional, map or sparse tensor, kept as the bytes of the TypeProto. */
  | { readonly kind: 'other'; readonly bytes: Uint8Array };

/** Uninterpreted fields in the messages of a tensor type. */
export interface UnknownInType {
  readonly type: UnknownFields;
  readonly tensor: UnknownFields;
  readonly shape: UnknownFields;
  readonly dims: readonly UnknownFields[];
}

/** A constant: raw bytes (zero-copy from the file where possible), or strings. */
export type Constant = RawTensor | Tensor<'string'>;

/** Protobuf fields that this library does not interpret, written back byte for byte. */
export type UnknownFields = readonly Uint8Array[];

/** A constant in an attribute, with the other fields of its message. */
export interface NamedConstant {
  readonly value: Constant;
  readonly name: string;
  readonly notes?: { readonly docString: string; readonly metadata: ReadonlyMap<string, string>; readonly unknown: UnknownFields };
}

/** The other fields of an attribute's message. They are lost when the attribute is replaced. */
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
  /** A reference to an attribute of the enclosing function. */
  | { readonly kind: 'ref'; readonly refName: string; readonly attributeType: number }
  /** Type and sparse-tensor attributes, kept as the bytes of the AttributeProto. */
  | { readonly kind: 'other'; readonly bytes: Uint8Array };

export interface Value {
  readonly id: ValueId;
  /** Unique in its graph; never empty. */
  name: string;
  type: ValueType | undefined;
  /** The node that produces the value; undefined for graph inputs and initializers. */
  producer: NodeId | undefined;
  /** Set for an initializer (which may also be a graph input with a default). */
  constant: Constant | undefined;
  docString: string;
  metadata: Map<string, string>;
  unknown: UnknownFields;
}

export interface Node {
  readonly id: NodeId;
  /** May be empty: ONNX does not require node names. */
  name: string;
  opType: string;
  /** '' is the ONNX domain ("ai.onnx" is decoded as ''). */
  domain: string;
  overload: string;
  /** undefined: an absent optional input. */
  inputs: (ValueId | undefined)[];
  /** undefined: an absent optional output. */
  outputs: (ValueId | undefined)[];
  attributes: Map<string, Attribute>;
  docString: string;
  metadata: Map<string, string>;
  unknown: UnknownFields;
}

/**
 * A graph owns its nodes (in file order, which is topological after `sortTopologically`) and its values.
 * A node of a subgraph may refer to values of outer graphs.
 */
export interface Graph {
  name: string;
  readonly nodes: Map<NodeId, Node>;
  readonly values: Map<ValueId, Value>;
  inputs: ValueId[];
  outputs: ValueId[];
  docString: string;
  metadata: Map<string, string>;
  /** Includes `quantization_annotation` and `sparse_initializer`. */
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
  /** Model-local functions, training info and other uninterpreted ModelProto fields, byte for byte. */
  unknown: UnknownFields;
  /** The next free id: see `ir/edit`. */
  nextId: number;
}
