/** Which integers does a model get? Presets are named sets of knobs; every knob can be turned on its own. */
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import { QUARK_MIN_MSE, type RangeMethod } from '../range/range-method.js';
import type { WeightRangeMethod } from '../range/weight-range.js';

export interface QuantizationScheme {
  readonly activation: IntegerScheme;
  readonly weight: WeightScheme;
  readonly bias: BiasScheme;
  /** How the range of an activation follows from its sketch. */
  readonly range: RangeMethod;
  /** Only nodes of these types are quantized. */
  readonly opTypes: readonly string[];
  readonly placement: PlacementScheme;
}

export interface WeightScheme extends IntegerScheme {
  /** One scale per output channel instead of one per tensor. */
  readonly perChannel: boolean;
  /** How the range of a weight, or of another constant, follows from its elements. */
  readonly range: WeightRangeMethod;
}

/** 'float32': biases stay as they are. */
export type BiasDType = 'int8' | 'int16' | 'int32' | 'float32';

export interface BiasScheme {
  readonly dtype: BiasDType;
  /**
   * 'product': input scale · weight scale, so that it adds to the products of both without rescaling; int32 alone has room for it.
   * 'power-of-two': a scale of its own, the power of two with the least squared error, as AMD's NPUs take it.
   */
  readonly scale: 'product' | 'power-of-two';
}

/** Where Q and DQ stand beyond what each operator asks for. */
export interface PlacementScheme {
  /** Leaves out a Relu or Clip where the range of its output saturates in its place. */
  readonly dropSaturating: boolean;
  /** No Q and DQ between an operator and the activation function that alone reads it: NPUs compute both in one go. */
  readonly fuseActivations: boolean;
  /** Nodes that only move data: quantized where what they read is, or always. */
  readonly dataMovement: 'follow' | 'force';
  /** Outputs of nodes of these types stay in float, unless a quantized node reads them. */
  readonly floatOutputs: readonly string[];
  /** One pair of Q and DQ per value, or one for each of its readers. */
  readonly pairs: 'shared' | 'dedicated';
  /** Weights as integers behind a DQ, or in float before a pair of Q and DQ. */
  readonly weights: 'integers' | 'pair';
}

/** The operator domain of Q and DQ. 'com.microsoft' has 16-bit integers and per-channel scales from opset 10 on; 'ai.onnx' is what other runtimes read. */
export type QdqDomain = 'ai.onnx' | 'com.microsoft';

export interface Preset extends QuantizationScheme {
  readonly qdqDomain: QdqDomain;
}

/** What onnxruntime.quantization quantizes unless told otherwise, and three more that only move data. */
export const DEFAULT_OP_TYPES: readonly string[] = [
  'Add',
  'ArgMax',
  'AveragePool',
  'BatchNormalization',
  'Clip',
  'Concat',
  'Conv',
  'ConvTranspose',
  'DepthToSpace',
  'Flatten',
  'Gather',
  'Gemm',
  'GlobalAveragePool',
  'Identity',
  'InstanceNormalization',
  'LayerNormalization',
  'LeakyRelu',
  'MatMul',
  'MaxPool',
  'Mul',
  'Pad',
  'Relu',
  'Reshape',
  'Resize',
  'Sigmoid',
  'Slice',
  'Softmax',
  'SpaceToDepth',
  'Split',
  'Squeeze',
  'Transpose',
  'Unsqueeze',
  'Where',
];

/** What onnxruntime.quantization does. */
const PLAIN_PLACEMENT: PlacementScheme = {
  dropSaturating: true,
  fuseActivations: false,
  dataMovement: 'follow',
  floatOutputs: [],
  pairs: 'shared',
  weights: 'integers',
};

/** What AMD's quantizers do for their NPUs: an activation function belongs to the operator before it, and nothing is left in float that could be moved as integers. */
const NPU_PLACEMENT: PlacementScheme = { ...PLAIN_PLACEMENT, fuseActivations: true, dataMovement: 'force' };

const ASYMMETRIC = { symmetric: false, reduceRange: false } as const;
const SYMMETRIC = { symmetric: true, reduceRange: false } as const;
const INT8_WEIGHT: WeightScheme = { dtype: 'int8', ...SYMMETRIC, perChannel: false, range: { kind: 'min-max' } };

/** What the presets with float scales share. */
const FLOAT_SCALE = {
  weight: INT8_WEIGHT,
  bias: { dtype: 'int32', scale: 'product' },
  range: { kind: 'min-max' },
  opTypes: DEFAULT_OP_TYPES,
  placement: PLAIN_PLACEMENT,
  qdqDomain: 'ai.onnx',
} as const;

export const PRESETS = {
  /** Activations uint8 with a zero point of their own, weights int8 symmetric: the fast path of processors. */
  u8s8: { ...FLOAT_SCALE, activation: { dtype: 'uint8', ...ASYMMETRIC } },
  /** Activations int8 with a zero point of their own, weights int8 symmetric. */
  s8s8: { ...FLOAT_SCALE, activation: { dtype: 'int8', ...ASYMMETRIC } },
  /** Both uint8 with zero points of their own. */
  u8u8: { ...FLOAT_SCALE, activation: { dtype: 'uint8', ...ASYMMETRIC }, weight: { ...INT8_WEIGHT, dtype: 'uint8', ...ASYMMETRIC } },
  /** Both int8 symmetric with float scales: what NPUs call A8W8. */
  a8w8: { ...FLOAT_SCALE, activation: { dtype: 'int8', ...SYMMETRIC }, placement: NPU_PLACEMENT },
  /** Activations int16, weights int8, both symmetric with float scales. The contrib domain has 16-bit integers at opset 17, which Ryzen AI takes. */
  a16w8: { ...FLOAT_SCALE, activation: { dtype: 'int16', ...SYMMETRIC }, placement: NPU_PLACEMENT, qdqDomain: 'com.microsoft' },
  /** AMD's XINT8: powers of two by least squared error, per tensor; activations uint8 around 128, weights int8 around 0, biases int8 with a scale of their own. */
  xint8: {
    activation: { dtype: 'uint8', ...SYMMETRIC },
    weight: { ...INT8_WEIGHT, range: { kind: 'power-of-two', position: { kind: 'min-mse', first: -1, last: 3 } } },
    bias: { dtype: 'int8', scale: 'power-of-two' },
    range: QUARK_MIN_MSE,
    opTypes: DEFAULT_OP_TYPES,
    placement: NPU_PLACEMENT,
    qdqDomain: 'ai.onnx',
  },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;
