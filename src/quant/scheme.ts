/** Which integers does a model get? Presets are named sets of knobs; every knob can be turned on its own. */
import type { QuantizedDType } from './quantized-dtype.js';
import type { RangeMethod } from './range-method.js';

export interface QuantizationScheme {
  readonly activation: { readonly dtype: QuantizedDType; readonly symmetric: boolean };
  readonly weight: {
    readonly dtype: QuantizedDType;
    readonly symmetric: boolean;
    /** One scale per output channel instead of one per tensor. */
    readonly perChannel: boolean;
    /** One bit less, for processors whose 8-bit products saturate in 16 bits. */
    readonly reduceRange: boolean;
  };
  readonly range: RangeMethod;
  /** Only nodes of these types are quantized. */
  readonly opTypes: readonly string[];
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

const FLOAT_SCALE = { range: { kind: 'min-max' }, opTypes: DEFAULT_OP_TYPES } as const;
const PER_TENSOR = { perChannel: false, reduceRange: false } as const;

export const PRESETS = {
  /** Activations uint8 with a zero point of their own, weights int8 symmetric: the fast path of processors. */
  u8s8: {
    ...FLOAT_SCALE,
    activation: { dtype: 'uint8', symmetric: false },
    weight: { dtype: 'int8', symmetric: true, ...PER_TENSOR },
  },
  /** Both int8 symmetric with float scales: what NPUs call A8W8. */
  a8w8: {
    ...FLOAT_SCALE,
    activation: { dtype: 'int8', symmetric: true },
    weight: { dtype: 'int8', symmetric: true, ...PER_TENSOR },
  },
} as const satisfies Record<string, QuantizationScheme>;

export type PresetName = keyof typeof PRESETS;
