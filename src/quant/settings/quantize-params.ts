/** Params of `quantize`. */
import { keysOf } from '../../base/keys-of.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { NODE_SELECTOR_SCHEMA } from '../../onnx/selection/node-selector.js';
import { describePresets } from '../scheme/preset-origins.js';
import { PRESETS } from '../scheme/scheme.js';
import { RANGE_SCHEMAS, WEIGHT_RANGE_SCHEMAS } from './range-param.js';

const DTYPE = { type: 'string', enum: ['int8', 'uint8', 'int16', 'uint16'] } as const;
const SYMMETRIC = { type: 'boolean', description: 'Whether zero is in the middle of the integers.' } as const;
const REDUCE_RANGE = {
  type: 'boolean',
  description: 'One bit less, for processors whose 8-bit products saturate in 16 bits.',
} as const;
const PER_CHANNEL = { type: 'boolean', description: 'One scale per output channel instead of one per tensor.' } as const;
const RANGE_TEXT = 'A method by name, or {kind, …} with settings: docs/stages/quantize.md lists them.';

const BIAS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    dtype: { type: 'string', enum: ['int8', 'int16', 'int32', 'float32'], description: 'float32: biases are not quantized.' },
    scale: {
      type: 'string',
      enum: ['product', 'power-of-two'],
      description: 'product: input scale · weight scale, in int32. power-of-two: its own scale, by smallest squared error.',
    },
  },
} as const;

const TENSOR = { type: 'string', minLength: 1, description: 'Tensors by name; `*` matches any characters.' } as const;
const MATCHES = { const: 'any', description: 'May also match nothing, so that one list can serve several models.' } as const;

const OVERRIDE = {
  type: 'object',
  additionalProperties: false,
  required: ['set'],
  properties: {
    tensor: TENSOR,
    node: NODE_SELECTOR_SCHEMA,
    of: { type: 'string', enum: ['outputs', 'inputs', 'weights', 'bias'], description: 'Which tensors of the node; default: outputs.' },
    matches: MATCHES,
    set: {
      type: 'object',
      additionalProperties: false,
      minProperties: 1,
      description: 'The settings of the tensors.',
      properties: {
        dtype: { ...DTYPE, description: 'Integers of the tensors.' },
        symmetric: SYMMETRIC,
        reduceRange: REDUCE_RANGE,
        perChannel: PER_CHANNEL,
        range: {
          anyOf: [
            ...RANGE_SCHEMAS,
            {
              type: 'object',
              additionalProperties: false,
              required: ['low', 'high'],
              properties: { low: { type: 'number' }, high: { type: 'number' } },
            },
          ],
          description: `${RANGE_TEXT} Or a fixed range: {low, high}.`,
        },
        scale: { type: 'number', minimum: 2 ** -126, maximum: 2 ** 127, description: 'A fixed scale, rounded to float32.' },
        zeroPoint: { type: 'integer', description: 'Requires scale; default: the middle of symmetric integers, else 0.' },
        bias: { ...BIAS, description: 'Of biases.' },
      },
    },
  },
} as const;

export const QUANTIZE_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    preset: {
      type: 'string',
      enum: keysOf(PRESETS),
      default: 'u8s8',
      description: `A named set of all settings, and what it is modeled on. ${describePresets()}`,
    },
    activation: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: { dtype: { ...DTYPE, description: 'Integers of activations.' }, symmetric: SYMMETRIC, reduceRange: REDUCE_RANGE },
      description: 'Changes single settings of the preset.',
    },
    weight: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        dtype: { ...DTYPE, description: 'Integers of weights.' },
        bits: {
          type: 'integer',
          minimum: 2,
          maximum: 8,
          description:
            'Weights use only integers of so many bits, stored in `dtype`. Constants that are added or multiplied keep all bits.',
        },
        symmetric: SYMMETRIC,
        perChannel: PER_CHANNEL,
        reduceRange: REDUCE_RANGE,
        range: { anyOf: [...WEIGHT_RANGE_SCHEMAS], description: `The range method for weights. ${RANGE_TEXT}` },
      },
      description: 'Changes single settings of the preset.',
    },
    bias: { ...BIAS, default: {}, description: 'Changes single settings of the preset.' },
    range: {
      anyOf: [...RANGE_SCHEMAS],
      description: `The range method for activations; default: that of the preset. ${RANGE_TEXT}`,
    },
    opTypes: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      uniqueItems: true,
      description:
        'Only nodes of these operators are quantized; default: the list of the preset. A warning names those that neither the model nor any preset has.',
    },
    placement: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        dropSaturating: {
          type: 'boolean',
          description: 'Removes a Relu or Clip if saturation of its output range has the same effect.',
        },
        fuseActivations: {
          type: 'boolean',
          description: 'No Q and DQ between an operator and the activation function that is its only reader.',
        },
        dataMovement: {
          type: 'string',
          enum: ['follow', 'force'],
          description: 'Nodes that only move data: quantized if their input is quantized (follow), or always (force).',
        },
        floatOutputs: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          uniqueItems: true,
          description: 'Outputs of nodes of these operators stay in float, unless a quantized node reads them.',
        },
        pairs: {
          type: 'string',
          enum: ['shared', 'dedicated'],
          description: 'One Q and DQ pair per value, or one per reader.',
        },
        weights: {
          type: 'string',
          enum: ['integers', 'pair'],
          description: 'Weights as integers before a DequantizeLinear, or as floats before a Q and DQ pair.',
        },
      },
      description: 'Placement of Q and DQ; changes single settings of the preset.',
    },
    exclude: {
      type: 'array',
      items: {
        anyOf: [
          ...NODE_SELECTOR_SCHEMA.anyOf,
          {
            type: 'object',
            additionalProperties: false,
            required: ['select', 'matches'],
            properties: { select: NODE_SELECTOR_SCHEMA, matches: MATCHES },
          },
          { type: 'object', additionalProperties: false, required: ['tensor'], properties: { tensor: TENSOR, matches: MATCHES } },
        ],
        description: `${NODE_SELECTOR_SCHEMA.description} {tensor: NAME} selects tensors. {select, matches: any} and {tensor, matches: any} may also match nothing.`,
      },
      default: [],
      description: 'Nodes and tensors that stay in float.',
    },
    overrides: {
      type: 'array',
      items: OVERRIDE,
      default: [],
      description: 'Settings of single tensors. Later entries win, setting by setting.',
    },
    joins: {
      type: 'string',
      enum: ['shared', 'separate'],
      default: 'shared',
      description:
        'Concats of values with unlike ranges whose result is only moved to outputs. shared: one scale for all. separate: these nodes stay in float, so that each value keeps its own scale.',
    },
    refine: {
      type: 'string',
      enum: ['none', 'quark', 'joint'],
      description:
        "Moves power-of-two scales so that an NPU's shifts stay within its bounds; default: that of the preset, none for other scales. quark: rule by rule, in the order of AMD's quantizer. joint: at the least growth of squared errors.",
    },
    qdqDomain: {
      type: 'string',
      enum: ['ai.onnx', 'com.microsoft'],
      description:
        'Domain of QuantizeLinear and DequantizeLinear; default: that of the preset. com.microsoft supports 16-bit integers and per-channel scales from opset 10 on; ai.onnx needs opset 21 and 13 for them.',
    },
  },
} as const;

/** Absent members keep the value of the preset. */
export type QuantizeParams = FromSchema<typeof QUANTIZE_PARAMS>;

export type OverrideParam = QuantizeParams['overrides'][number];
