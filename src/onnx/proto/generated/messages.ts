/** The protobuf messages of ONNX files. Generated from onnx.proto by scripts/generate-proto.mjs with protobufjs; do not edit. */
import type { FieldOf, Message } from '../message.js';

export const AttributeType = {
  UNDEFINED: 0,
  FLOAT: 1,
  INT: 2,
  STRING: 3,
  TENSOR: 4,
  GRAPH: 5,
  FLOATS: 6,
  INTS: 7,
  STRINGS: 8,
  TENSORS: 9,
  GRAPHS: 10,
  SPARSE_TENSOR: 11,
  SPARSE_TENSORS: 12,
  TYPE_PROTO: 13,
  TYPE_PROTOS: 14,
} as const;

export const DataLocation = {
  DEFAULT: 0,
  EXTERNAL: 1,
} as const;

export interface ModelProto extends Message {
  readonly irVersion?: bigint | undefined;
  readonly producerName?: string | undefined;
  readonly producerVersion?: string | undefined;
  readonly domain?: string | undefined;
  readonly modelVersion?: bigint | undefined;
  readonly docString?: string | undefined;
  readonly graph?: GraphProto | undefined;
  readonly opsetImport?: readonly OperatorSetIdProto[] | undefined;
  readonly metadataProps?: readonly StringStringEntryProto[] | undefined;
  readonly trainingInfo?: readonly TrainingInfoProto[] | undefined;
  readonly functions?: readonly FunctionProto[] | undefined;
  readonly configuration?: readonly DeviceConfigurationProto[] | undefined;
}

export interface OperatorSetIdProto extends Message {
  readonly domain?: string | undefined;
  readonly version?: bigint | undefined;
}

export interface StringStringEntryProto extends Message {
  readonly key?: string | undefined;
  readonly value?: string | undefined;
}

export interface GraphProto extends Message {
  readonly node?: readonly NodeProto[] | undefined;
  readonly name?: string | undefined;
  readonly initializer?: readonly TensorProto[] | undefined;
  readonly docString?: string | undefined;
  readonly input?: readonly ValueInfoProto[] | undefined;
  readonly output?: readonly ValueInfoProto[] | undefined;
  readonly valueInfo?: readonly ValueInfoProto[] | undefined;
  readonly quantizationAnnotation?: readonly TensorAnnotation[] | undefined;
  readonly sparseInitializer?: readonly SparseTensorProto[] | undefined;
  readonly metadataProps?: readonly StringStringEntryProto[] | undefined;
}

export interface NodeProto extends Message {
  readonly input?: readonly string[] | undefined;
  readonly output?: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly opType?: string | undefined;
  readonly attribute?: readonly AttributeProto[] | undefined;
  readonly docString?: string | undefined;
  readonly domain?: string | undefined;
  readonly overload?: string | undefined;
  readonly metadataProps?: readonly StringStringEntryProto[] | undefined;
  readonly deviceConfigurations?: readonly NodeDeviceConfigurationProto[] | undefined;
}

export interface AttributeProto extends Message {
  readonly name?: string | undefined;
  readonly f?: number | undefined;
  readonly i?: bigint | undefined;
  readonly s?: Uint8Array | undefined;
  readonly t?: TensorProto | undefined;
  readonly g?: GraphProto | undefined;
  readonly floats?: Float32Array | undefined;
  readonly ints?: BigInt64Array | undefined;
  readonly strings?: readonly Uint8Array[] | undefined;
  readonly tensors?: readonly TensorProto[] | undefined;
  readonly graphs?: readonly GraphProto[] | undefined;
  readonly docString?: string | undefined;
  readonly tp?: TypeProto | undefined;
  readonly typeProtos?: readonly TypeProto[] | undefined;
  readonly type?: number | undefined;
  readonly refAttrName?: string | undefined;
  readonly sparseTensor?: SparseTensorProto | undefined;
  readonly sparseTensors?: readonly SparseTensorProto[] | undefined;
}

export interface TensorProto extends Message {
  readonly dims?: BigInt64Array | undefined;
  readonly dataType?: number | undefined;
  readonly segment?: TensorProtoSegment | undefined;
  readonly floatData?: Float32Array | undefined;
  readonly int32Data?: Int32Array | undefined;
  readonly stringData?: readonly Uint8Array[] | undefined;
  readonly int64Data?: BigInt64Array | undefined;
  readonly name?: string | undefined;
  readonly rawData?: Uint8Array | undefined;
  readonly doubleData?: Float64Array | undefined;
  readonly uint64Data?: BigUint64Array | undefined;
  readonly docString?: string | undefined;
  readonly externalData?: readonly StringStringEntryProto[] | undefined;
  readonly dataLocation?: number | undefined;
  readonly metadataProps?: readonly StringStringEntryProto[] | undefined;
}

export interface TensorProtoSegment extends Message {
  readonly begin?: bigint | undefined;
  readonly end?: bigint | undefined;
}

export interface SparseTensorProto extends Message {
  readonly values?: TensorProto | undefined;
  readonly indices?: TensorProto | undefined;
  readonly dims?: BigInt64Array | undefined;
}

export interface ValueInfoProto extends Message {
  readonly name?: string | undefined;
  readonly type?: TypeProto | undefined;
  readonly docString?: string | undefined;
  readonly metadataProps?: readonly StringStringEntryProto[] | undefined;
}

export interface TypeProto extends Message {
  readonly tensorType?: TypeProtoTensor | undefined;
  readonly sequenceType?: TypeProtoSequence | undefined;
  readonly mapType?: TypeProtoMap | undefined;
  readonly denotation?: string | undefined;
  readonly opaqueType?: TypeProtoOpaque | undefined;
  readonly sparseTensorType?: TypeProtoSparseTensor | undefined;
  readonly optionalType?: TypeProtoOptional | undefined;
}

export interface TypeProtoTensor extends Message {
  readonly elemType?: number | undefined;
  readonly shape?: TensorShapeProto | undefined;
}

export interface TypeProtoSequence extends Message {
  readonly elemType?: TypeProto | undefined;
}

export interface TypeProtoMap extends Message {
  readonly keyType?: number | undefined;
  readonly valueType?: TypeProto | undefined;
}

export interface TypeProtoOptional extends Message {
  readonly elemType?: TypeProto | undefined;
}

export interface TypeProtoSparseTensor extends Message {
  readonly elemType?: number | undefined;
  readonly shape?: TensorShapeProto | undefined;
}

export interface TypeProtoOpaque extends Message {
  readonly domain?: string | undefined;
  readonly name?: string | undefined;
}

export interface TensorShapeProto extends Message {
  readonly dim?: readonly TensorShapeProtoDimension[] | undefined;
}

export interface TensorShapeProtoDimension extends Message {
  readonly dimValue?: bigint | undefined;
  readonly dimParam?: string | undefined;
  readonly denotation?: string | undefined;
}

export interface TensorAnnotation extends Message {
  readonly tensorName?: string | undefined;
  readonly quantParameterTensorNames?: readonly StringStringEntryProto[] | undefined;
}

export interface FunctionProto extends Message {
  readonly name?: string | undefined;
  readonly input?: readonly string[] | undefined;
  readonly output?: readonly string[] | undefined;
  readonly attribute?: readonly string[] | undefined;
  readonly node?: readonly NodeProto[] | undefined;
  readonly docString?: string | undefined;
  readonly opsetImport?: readonly OperatorSetIdProto[] | undefined;
  readonly domain?: string | undefined;
  readonly attributeProto?: readonly AttributeProto[] | undefined;
  readonly valueInfo?: readonly ValueInfoProto[] | undefined;
  readonly overload?: string | undefined;
  readonly metadataProps?: readonly StringStringEntryProto[] | undefined;
}

export interface TrainingInfoProto extends Message {
  readonly initialization?: GraphProto | undefined;
  readonly algorithm?: GraphProto | undefined;
  readonly initializationBinding?: readonly StringStringEntryProto[] | undefined;
  readonly updateBinding?: readonly StringStringEntryProto[] | undefined;
}

export interface DeviceConfigurationProto extends Message {
  readonly name?: string | undefined;
  readonly numDevices?: number | undefined;
  readonly device?: readonly string[] | undefined;
}

export interface NodeDeviceConfigurationProto extends Message {
  readonly configurationId?: string | undefined;
  readonly shardingSpec?: readonly ShardingSpecProto[] | undefined;
  readonly pipelineStage?: number | undefined;
}

export interface ShardingSpecProto extends Message {
  readonly tensorName?: string | undefined;
  readonly device?: BigInt64Array | undefined;
  readonly indexToDeviceGroupMap?: readonly IntIntListEntryProto[] | undefined;
  readonly shardedDim?: readonly ShardedDimProto[] | undefined;
}

export interface IntIntListEntryProto extends Message {
  readonly key?: bigint | undefined;
  readonly value?: BigInt64Array | undefined;
}

export interface ShardedDimProto extends Message {
  readonly axis?: bigint | undefined;
  readonly simpleSharding?: readonly SimpleShardedDimProto[] | undefined;
}

export interface SimpleShardedDimProto extends Message {
  readonly dimValue?: bigint | undefined;
  readonly dimParam?: string | undefined;
  readonly numShards?: bigint | undefined;
}

export interface Messages {
  readonly ModelProto: ModelProto;
  readonly OperatorSetIdProto: OperatorSetIdProto;
  readonly StringStringEntryProto: StringStringEntryProto;
  readonly GraphProto: GraphProto;
  readonly NodeProto: NodeProto;
  readonly AttributeProto: AttributeProto;
  readonly TensorProto: TensorProto;
  readonly TensorProtoSegment: TensorProtoSegment;
  readonly SparseTensorProto: SparseTensorProto;
  readonly ValueInfoProto: ValueInfoProto;
  readonly TypeProto: TypeProto;
  readonly TypeProtoTensor: TypeProtoTensor;
  readonly TypeProtoSequence: TypeProtoSequence;
  readonly TypeProtoMap: TypeProtoMap;
  readonly TypeProtoOptional: TypeProtoOptional;
  readonly TypeProtoSparseTensor: TypeProtoSparseTensor;
  readonly TypeProtoOpaque: TypeProtoOpaque;
  readonly TensorShapeProto: TensorShapeProto;
  readonly TensorShapeProtoDimension: TensorShapeProtoDimension;
  readonly TensorAnnotation: TensorAnnotation;
  readonly FunctionProto: FunctionProto;
  readonly TrainingInfoProto: TrainingInfoProto;
  readonly DeviceConfigurationProto: DeviceConfigurationProto;
  readonly NodeDeviceConfigurationProto: NodeDeviceConfigurationProto;
  readonly ShardingSpecProto: ShardingSpecProto;
  readonly IntIntListEntryProto: IntIntListEntryProto;
  readonly ShardedDimProto: ShardedDimProto;
  readonly SimpleShardedDimProto: SimpleShardedDimProto;
}

/** The fields of each message, in field-number order. */
export const FIELDS: { readonly [Name in keyof Messages]: readonly FieldOf<Messages[Name], keyof Messages>[] } = {
  ModelProto: [
    { id: 1, name: 'irVersion', kind: 'int64', form: 'single' },
    { id: 2, name: 'producerName', kind: 'string', form: 'single' },
    { id: 3, name: 'producerVersion', kind: 'string', form: 'single' },
    { id: 4, name: 'domain', kind: 'string', form: 'single' },
    { id: 5, name: 'modelVersion', kind: 'int64', form: 'single' },
    { id: 6, name: 'docString', kind: 'string', form: 'single' },
    { id: 7, name: 'graph', kind: 'GraphProto', form: 'single' },
    { id: 8, name: 'opsetImport', kind: 'OperatorSetIdProto', form: 'repeated' },
    { id: 14, name: 'metadataProps', kind: 'StringStringEntryProto', form: 'repeated' },
    { id: 20, name: 'trainingInfo', kind: 'TrainingInfoProto', form: 'repeated' },
    { id: 25, name: 'functions', kind: 'FunctionProto', form: 'repeated' },
    { id: 26, name: 'configuration', kind: 'DeviceConfigurationProto', form: 'repeated' },
  ],
  OperatorSetIdProto: [
    { id: 1, name: 'domain', kind: 'string', form: 'single' },
    { id: 2, name: 'version', kind: 'int64', form: 'single' },
  ],
  StringStringEntryProto: [
    { id: 1, name: 'key', kind: 'string', form: 'single' },
    { id: 2, name: 'value', kind: 'string', form: 'single' },
  ],
  GraphProto: [
    { id: 1, name: 'node', kind: 'NodeProto', form: 'repeated' },
    { id: 2, name: 'name', kind: 'string', form: 'single' },
    { id: 5, name: 'initializer', kind: 'TensorProto', form: 'repeated' },
    { id: 10, name: 'docString', kind: 'string', form: 'single' },
    { id: 11, name: 'input', kind: 'ValueInfoProto', form: 'repeated' },
    { id: 12, name: 'output', kind: 'ValueInfoProto', form: 'repeated' },
    { id: 13, name: 'valueInfo', kind: 'ValueInfoProto', form: 'repeated' },
    { id: 14, name: 'quantizationAnnotation', kind: 'TensorAnnotation', form: 'repeated' },
    { id: 15, name: 'sparseInitializer', kind: 'SparseTensorProto', form: 'repeated' },
    { id: 16, name: 'metadataProps', kind: 'StringStringEntryProto', form: 'repeated' },
  ],
  NodeProto: [
    { id: 1, name: 'input', kind: 'string', form: 'repeated' },
    { id: 2, name: 'output', kind: 'string', form: 'repeated' },
    { id: 3, name: 'name', kind: 'string', form: 'single' },
    { id: 4, name: 'opType', kind: 'string', form: 'single' },
    { id: 5, name: 'attribute', kind: 'AttributeProto', form: 'repeated' },
    { id: 6, name: 'docString', kind: 'string', form: 'single' },
    { id: 7, name: 'domain', kind: 'string', form: 'single' },
    { id: 8, name: 'overload', kind: 'string', form: 'single' },
    { id: 9, name: 'metadataProps', kind: 'StringStringEntryProto', form: 'repeated' },
    { id: 10, name: 'deviceConfigurations', kind: 'NodeDeviceConfigurationProto', form: 'repeated' },
  ],
  AttributeProto: [
    { id: 1, name: 'name', kind: 'string', form: 'single' },
    { id: 2, name: 'f', kind: 'float', form: 'single' },
    { id: 3, name: 'i', kind: 'int64', form: 'single' },
    { id: 4, name: 's', kind: 'bytes', form: 'single' },
    { id: 5, name: 't', kind: 'TensorProto', form: 'single' },
    { id: 6, name: 'g', kind: 'GraphProto', form: 'single' },
    { id: 7, name: 'floats', kind: 'float', form: 'repeated' },
    { id: 8, name: 'ints', kind: 'int64', form: 'repeated' },
    { id: 9, name: 'strings', kind: 'bytes', form: 'repeated' },
    { id: 10, name: 'tensors', kind: 'TensorProto', form: 'repeated' },
    { id: 11, name: 'graphs', kind: 'GraphProto', form: 'repeated' },
    { id: 13, name: 'docString', kind: 'string', form: 'single' },
    { id: 14, name: 'tp', kind: 'TypeProto', form: 'single' },
    { id: 15, name: 'typeProtos', kind: 'TypeProto', form: 'repeated' },
    { id: 20, name: 'type', kind: 'int32', form: 'single' },
    { id: 21, name: 'refAttrName', kind: 'string', form: 'single' },
    { id: 22, name: 'sparseTensor', kind: 'SparseTensorProto', form: 'single' },
    { id: 23, name: 'sparseTensors', kind: 'SparseTensorProto', form: 'repeated' },
  ],
  TensorProto: [
    { id: 1, name: 'dims', kind: 'int64', form: 'repeated' },
    { id: 2, name: 'dataType', kind: 'int32', form: 'single' },
    { id: 3, name: 'segment', kind: 'TensorProtoSegment', form: 'single' },
    { id: 4, name: 'floatData', kind: 'float', form: 'packed' },
    { id: 5, name: 'int32Data', kind: 'int32', form: 'packed' },
    { id: 6, name: 'stringData', kind: 'bytes', form: 'repeated' },
    { id: 7, name: 'int64Data', kind: 'int64', form: 'packed' },
    { id: 8, name: 'name', kind: 'string', form: 'single' },
    { id: 9, name: 'rawData', kind: 'bytes', form: 'single' },
    { id: 10, name: 'doubleData', kind: 'double', form: 'packed' },
    { id: 11, name: 'uint64Data', kind: 'uint64', form: 'packed' },
    { id: 12, name: 'docString', kind: 'string', form: 'single' },
    { id: 13, name: 'externalData', kind: 'StringStringEntryProto', form: 'repeated' },
    { id: 14, name: 'dataLocation', kind: 'int32', form: 'single' },
    { id: 16, name: 'metadataProps', kind: 'StringStringEntryProto', form: 'repeated' },
  ],
  TensorProtoSegment: [
    { id: 1, name: 'begin', kind: 'int64', form: 'single' },
    { id: 2, name: 'end', kind: 'int64', form: 'single' },
  ],
  SparseTensorProto: [
    { id: 1, name: 'values', kind: 'TensorProto', form: 'single' },
    { id: 2, name: 'indices', kind: 'TensorProto', form: 'single' },
    { id: 3, name: 'dims', kind: 'int64', form: 'repeated' },
  ],
  ValueInfoProto: [
    { id: 1, name: 'name', kind: 'string', form: 'single' },
    { id: 2, name: 'type', kind: 'TypeProto', form: 'single' },
    { id: 3, name: 'docString', kind: 'string', form: 'single' },
    { id: 4, name: 'metadataProps', kind: 'StringStringEntryProto', form: 'repeated' },
  ],
  TypeProto: [
    { id: 1, name: 'tensorType', kind: 'TypeProtoTensor', form: 'single' },
    { id: 4, name: 'sequenceType', kind: 'TypeProtoSequence', form: 'single' },
    { id: 5, name: 'mapType', kind: 'TypeProtoMap', form: 'single' },
    { id: 6, name: 'denotation', kind: 'string', form: 'single' },
    { id: 7, name: 'opaqueType', kind: 'TypeProtoOpaque', form: 'single' },
    { id: 8, name: 'sparseTensorType', kind: 'TypeProtoSparseTensor', form: 'single' },
    { id: 9, name: 'optionalType', kind: 'TypeProtoOptional', form: 'single' },
  ],
  TypeProtoTensor: [
    { id: 1, name: 'elemType', kind: 'int32', form: 'single' },
    { id: 2, name: 'shape', kind: 'TensorShapeProto', form: 'single' },
  ],
  TypeProtoSequence: [
    { id: 1, name: 'elemType', kind: 'TypeProto', form: 'single' },
  ],
  TypeProtoMap: [
    { id: 1, name: 'keyType', kind: 'int32', form: 'single' },
    { id: 2, name: 'valueType', kind: 'TypeProto', form: 'single' },
  ],
  TypeProtoOptional: [
    { id: 1, name: 'elemType', kind: 'TypeProto', form: 'single' },
  ],
  TypeProtoSparseTensor: [
    { id: 1, name: 'elemType', kind: 'int32', form: 'single' },
    { id: 2, name: 'shape', kind: 'TensorShapeProto', form: 'single' },
  ],
  TypeProtoOpaque: [
    { id: 1, name: 'domain', kind: 'string', form: 'single' },
    { id: 2, name: 'name', kind: 'string', form: 'single' },
  ],
  TensorShapeProto: [
    { id: 1, name: 'dim', kind: 'TensorShapeProtoDimension', form: 'repeated' },
  ],
  TensorShapeProtoDimension: [
    { id: 1, name: 'dimValue', kind: 'int64', form: 'single' },
    { id: 2, name: 'dimParam', kind: 'string', form: 'single' },
    { id: 3, name: 'denotation', kind: 'string', form: 'single' },
  ],
  TensorAnnotation: [
    { id: 1, name: 'tensorName', kind: 'string', form: 'single' },
    { id: 2, name: 'quantParameterTensorNames', kind: 'StringStringEntryProto', form: 'repeated' },
  ],
  FunctionProto: [
    { id: 1, name: 'name', kind: 'string', form: 'single' },
    { id: 4, name: 'input', kind: 'string', form: 'repeated' },
    { id: 5, name: 'output', kind: 'string', form: 'repeated' },
    { id: 6, name: 'attribute', kind: 'string', form: 'repeated' },
    { id: 7, name: 'node', kind: 'NodeProto', form: 'repeated' },
    { id: 8, name: 'docString', kind: 'string', form: 'single' },
    { id: 9, name: 'opsetImport', kind: 'OperatorSetIdProto', form: 'repeated' },
    { id: 10, name: 'domain', kind: 'string', form: 'single' },
    { id: 11, name: 'attributeProto', kind: 'AttributeProto', form: 'repeated' },
    { id: 12, name: 'valueInfo', kind: 'ValueInfoProto', form: 'repeated' },
    { id: 13, name: 'overload', kind: 'string', form: 'single' },
    { id: 14, name: 'metadataProps', kind: 'StringStringEntryProto', form: 'repeated' },
  ],
  TrainingInfoProto: [
    { id: 1, name: 'initialization', kind: 'GraphProto', form: 'single' },
    { id: 2, name: 'algorithm', kind: 'GraphProto', form: 'single' },
    { id: 3, name: 'initializationBinding', kind: 'StringStringEntryProto', form: 'repeated' },
    { id: 4, name: 'updateBinding', kind: 'StringStringEntryProto', form: 'repeated' },
  ],
  DeviceConfigurationProto: [
    { id: 1, name: 'name', kind: 'string', form: 'single' },
    { id: 2, name: 'numDevices', kind: 'int32', form: 'single' },
    { id: 3, name: 'device', kind: 'string', form: 'repeated' },
  ],
  NodeDeviceConfigurationProto: [
    { id: 1, name: 'configurationId', kind: 'string', form: 'single' },
    { id: 2, name: 'shardingSpec', kind: 'ShardingSpecProto', form: 'repeated' },
    { id: 3, name: 'pipelineStage', kind: 'int32', form: 'single' },
  ],
  ShardingSpecProto: [
    { id: 1, name: 'tensorName', kind: 'string', form: 'single' },
    { id: 2, name: 'device', kind: 'int64', form: 'repeated' },
    { id: 3, name: 'indexToDeviceGroupMap', kind: 'IntIntListEntryProto', form: 'repeated' },
    { id: 4, name: 'shardedDim', kind: 'ShardedDimProto', form: 'repeated' },
  ],
  IntIntListEntryProto: [
    { id: 1, name: 'key', kind: 'int64', form: 'single' },
    { id: 2, name: 'value', kind: 'int64', form: 'repeated' },
  ],
  ShardedDimProto: [
    { id: 1, name: 'axis', kind: 'int64', form: 'single' },
    { id: 2, name: 'simpleSharding', kind: 'SimpleShardedDimProto', form: 'repeated' },
  ],
  SimpleShardedDimProto: [
    { id: 1, name: 'dimValue', kind: 'int64', form: 'single' },
    { id: 2, name: 'dimParam', kind: 'string', form: 'single' },
    { id: 3, name: 'numShards', kind: 'int64', form: 'single' },
  ],
};
