/** Quantization schemes and presets. A preset is a named scheme; every setting can be changed on its own. */
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import { QUARK_MIN_MSE, type RangeMethod } from '../range/range-method.js';
import type { WeightRangeMethod } from '../range/weight-range.js';

export interface QuantizationScheme {
  readonly activation: IntegerScheme;
  readonly weight: WeightScheme;
  readonly bias: BiasScheme;
  /** The range method for activations. */
  readonly range: RangeMethod;
  /** Operator types to quantize. */
  readonly opTypes: readonly string[];
  readonly placement: PlacementScheme;
}

export interface WeightScheme extends IntegerScheme {
  /** One scale per output channel instead of one per tensor. */
  readonly perChannel: boolean;
  /** The range method for weights and other constants. */
  readonly range: WeightRangeMethod;
}

/** 'float32': biases are not quantized. */
export type BiasDType = 'int8' | 'int16' | 'int32' | 'float32';

export interface BiasScheme {
  readonly dtype: BiasDType;
  /**
   * 'product': input scale · weight scale, so that the bias is added to products without rescaling; requires int32.
   * 'power-of-two': its own scale, the power of two with the smallest squared error, as AMD's NPUs require.
   */
  readonly scale: 'product' | 'power-of-two';
}

/** Placement of Q and DQ beyond the rules of each operator. */
export interface PlacementScheme {
  /** Removes a Relu or Clip if saturation of its output range has the same effect. */
  readonly dropSaturating: boolean;
  /** No Q and DQ between an operator and the activation function that is its only reader: NPUs compute both at once. */
  readonly fuseActivations: boolean;
  /** Nodes that only move data: 'follow' quantizes them if their input is quantized, 'force' always. */
  readonly dataMovement: 'follow' | 'force';
  /** Outputs of these operator types stay in float, unless a quantized node reads them. */
  readonly floatOutputs: readonly string[];
  /** One Q and DQ pair per value, or one per reader. */
  readonly pairs: 'shared' | 'dedicated';
  /** Weights as integers before a DQ, or as floats before a Q and DQ pair. */
  readonly weights: 'integers' | 'pair';
}

/** The operator domain of Q and DQ. 'com.microsoft' supports 16-bit integers and per-channel scales from opset 10 on; 'ai.onnx' is portable. */
export type QdqDomain = 'ai.onnx' | 'com.microsoft';

/**
 * Moves power-of-two scales so that the shifts of an NPU stay within its bounds. 'none': they stay where the range methods put them.
 * 'quark': rule by rule, in the order of AMD's quantizer. 'joint': at the least growth of squared errors.
 */
export type RefineForm = 'none' | 'quark' | 'joint';

export interface Preset extends QuantizationScheme {
  readonly qdqDomain: QdqDomain;
  readonly refine: RefineForm;
}

/** The default operator types of onnxruntime.quantization 1.30 for networks of images, and three more that only move data. */
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
  'GatherElements',
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
  'TopK',
  'Transpose',
  'Unsqueeze',
  'Where',
];

/** The placement of onnxruntime.quantization. */
const PLAIN_PLACEMENT: PlacementScheme = {
  dropSaturating: true,
  fuseActivations: false,
  dataMovement: 'follow',
  floatOutputs: [],
  pairs: 'shared',
  weights: 'integers',
};

/** The placement of AMD's NPU quantizers: activation functions are fused, and data movement is always quantized. */
const NPU_PLACEMENT: PlacementScheme = { ...PLAIN_PLACEMENT, fuseActivations: true, dataMovement: 'force' };

const ASYMMETRIC = { symmetric: false, reduceRange: false } as const;
const SYMMETRIC = { symmetric: true, reduceRange: false } as const;
const INT8_WEIGHT: WeightScheme = { dtype: 'int8', ...SYMMETRIC, perChannel: false, range: { kind: 'min-max' } };

/** The common part of the presets with float scales. */
const FLOAT_SCALE = {
  weight: INT8_WEIGHT,
  bias: { dtype: 'int32', scale: 'product' },
  range: { kind: 'min-max' },
  opTypes: DEFAULT_OP_TYPES,
  placement: PLAIN_PLACEMENT,
  refine: 'none',
  qdqDomain: 'ai.onnx',
} as const;

const BASES = {
  /** Activations uint8 asymmetric, weights int8 symmetric: the fast path of processors. */
  u8s8: { ...FLOAT_SCALE, activation: { dtype: 'uint8', ...ASYMMETRIC } },
  /** Activations int8 asymmetric, weights int8 symmetric. */
  s8s8: { ...FLOAT_SCALE, activation: { dtype: 'int8', ...ASYMMETRIC } },
  /** Both uint8 asymmetric. */
  u8u8: { ...FLOAT_SCALE, activation: { dtype: 'uint8', ...ASYMMETRIC }, weight: { ...INT8_WEIGHT, dtype: 'uint8', ...ASYMMETRIC } },
  /** Both int8 symmetric with float scales: A8W8 of NPUs. */
  a8w8: { ...FLOAT_SCALE, activation: { dtype: 'int8', ...SYMMETRIC }, placement: NPU_PLACEMENT },
  /** Activations int16, weights int8, both symmetric with float scales. The contrib domain supports 16-bit integers at opset 17, which Ryzen AI requires. */
  a16w8: { ...FLOAT_SCALE, activation: { dtype: 'int16', ...SYMMETRIC }, placement: NPU_PLACEMENT, qdqDomain: 'com.microsoft' },
  /** AMD's XINT8: per-tensor power-of-two scales by smallest squared error; activations uint8 around 128, weights int8 around 0, biases int8 with their own scale. */
  xint8: {
    activation: { dtype: 'uint8', ...SYMMETRIC },
    weight: { ...INT8_WEIGHT, range: { kind: 'power-of-two', position: { kind: 'min-mse', first: -1, last: 3 } } },
    bias: { dtype: 'int8', scale: 'power-of-two' },
    range: QUARK_MIN_MSE,
    opTypes: DEFAULT_OP_TYPES,
    placement: NPU_PLACEMENT,
    refine: 'quark',
    qdqDomain: 'ai.onnx',
  },
} as const satisfies Record<string, Preset>;

/** The default percentile of Quark's newer presets. */
const percentile = (of: number) => ({ kind: 'percentile', percentile: of, sides: 'magnitude' }) as const;
const perChannel = <Base extends Preset>(base: Base) => ({ ...base, weight: { ...base.weight, perChannel: true } }) as const;

/** Their models, and how they differ from them: preset-origins. */
export const PRESETS = {
  ...BASES,
  'u8s8-per-channel': perChannel(BASES.u8s8),
  's8s8-per-channel': perChannel(BASES.s8s8),
  's8s8-aaws': { ...BASES.s8s8, range: percentile(99.9999) },
  'a8w8-per-channel': perChannel(BASES.a8w8),
  'a8w8-2': { ...BASES.a8w8, range: percentile(99.999) },
  'a16w8-per-channel': perChannel(BASES.a16w8),
  'a16w8-2': { ...BASES.a16w8, range: percentile(99.999) },
  'xint8-2': { ...BASES.xint8, activation: { ...BASES.xint8.activation, dtype: 'int8' } },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;
