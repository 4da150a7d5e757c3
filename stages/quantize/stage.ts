/** What does `quantize` take and give? A float model and its sketches; a QDQ model and a report of every tensor. */
import { NODE_SELECTOR_SCHEMA } from '../../src/onnx/selection/node-selector.js';
import { PRESETS } from '../../src/quant/scheme/scheme.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import type { QuantizeParams } from './params.js';
import { RANGE_SCHEMAS, WEIGHT_RANGE_SCHEMAS } from './range-param.js';
import { checkQuantizeParams } from './scheme-of.js';

const DTYPE = { type: 'string', enum: ['int8', 'uint8', 'int16', 'uint16'] } as const;
const SYMMETRIC = { type: 'boolean', description: 'Whether zero stands in the middle of the integers.' } as const;
const REDUCE_RANGE = {
  type: 'boolean',
  description: 'One bit less, for processors whose 8-bit products saturate in 16 bits.',
} as const;
const PER_CHANNEL = { type: 'boolean', description: 'One scale per output channel instead of one per tensor.' } as const;
const RANGE_TEXT = 'A method by name, or {kind, …} with its knobs: docs/stages/quantize.md lists them.';

const BIAS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    dtype: { type: 'string', enum: ['int8', 'int16', 'int32', 'float32'], description: 'float32: biases stay as they are.' },
    scale: {
      type: 'string',
      enum: ['product', 'power-of-two'],
      description: 'product: input scale · weight scale, in int32. power-of-two: a scale of its own, by least squared error.',
    },
  },
} as const;

const TENSOR = { type: 'string', minLength: 1, description: 'Tensors by name; `*` stands for any characters.' } as const;
const MATCHES = { const: 'any', description: 'May also mean none: for one list that serves several models.' } as const;

const OVERRIDE = {
  type: 'object',
  additionalProperties: false,
  required: ['set'],
  properties: {
    tensor: TENSOR,
    node: NODE_SELECTOR_SCHEMA,
    of: { type: 'string', enum: ['outputs', 'inputs', 'weights', 'bias'], description: 'Which tensors of the node; outputs where absent.' },
    matches: MATCHES,
    set: {
      type: 'object',
      additionalProperties: false,
      minProperties: 1,
      properties: {
        dtype: DTYPE,
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
          description: `${RANGE_TEXT} Or the range itself: {low, high}.`,
        },
        scale: { type: 'number', minimum: 2 ** -126, maximum: 2 ** 127, description: 'The scale itself, rounded to float32.' },
        zeroPoint: { type: 'integer', description: 'With scale; where absent the middle of symmetric integers, or 0.' },
        bias: BIAS,
      },
    },
  },
} as const;

export const quantize = defineStage<QuantizeParams>({
  name: 'quantize',
  version: 1,
  description: 'Quantizes a float model to integers from its calibration sketches, without running it.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      preset: {
        type: 'string',
        enum: Object.keys(PRESETS),
        default: 'u8s8',
        description:
          'A named set of all knobs. u8s8, s8s8, u8u8: integers of activations and of weights, float scales. a8w8, a16w8: both symmetric, for NPUs. xint8: powers of two, for NPUs of AMD.',
      },
      activation: {
        type: 'object',
        additionalProperties: false,
        default: {},
        properties: { dtype: { ...DTYPE, description: 'Integers of activations.' }, symmetric: SYMMETRIC, reduceRange: REDUCE_RANGE },
        description: 'Turns single knobs of the preset.',
      },
      weight: {
        type: 'object',
        additionalProperties: false,
        default: {},
        properties: {
          dtype: { ...DTYPE, description: 'Integers of weights.' },
          symmetric: SYMMETRIC,
          perChannel: PER_CHANNEL,
          reduceRange: REDUCE_RANGE,
          range: { anyOf: [...WEIGHT_RANGE_SCHEMAS], description: `How the scale of a weight follows from its elements. ${RANGE_TEXT}` },
        },
        description: 'Turns single knobs of the preset.',
      },
      bias: { ...BIAS, default: {}, description: 'Turns single knobs of the preset.' },
      range: {
        anyOf: [...RANGE_SCHEMAS],
        description: `How the scale of an activation follows from its sketch; the preset's where absent. ${RANGE_TEXT}`,
      },
      opTypes: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        minItems: 1,
        uniqueItems: true,
        description: "Only nodes of these operators are quantized; the preset's list where absent.",
      },
      placement: {
        type: 'object',
        additionalProperties: false,
        default: {},
        properties: {
          dropSaturating: {
            type: 'boolean',
            description: 'Leaves out a Relu or Clip where the range of its output saturates in its place.',
          },
          fuseActivations: {
            type: 'boolean',
            description: 'No Q and DQ between an operator and the activation function that alone reads it.',
          },
          dataMovement: {
            type: 'string',
            enum: ['follow', 'force'],
            description: 'Nodes that only move data: quantized where what they read is (follow), or always (force).',
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
            description: 'One pair of Q and DQ per value, or one for each of its readers.',
          },
          weights: {
            type: 'string',
            enum: ['integers', 'pair'],
            description: 'Weights as integers behind a DequantizeLinear, or in float before a pair of Q and DQ.',
          },
        },
        description: 'Where Q and DQ stand; turns single knobs of the preset.',
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
          description: `${NODE_SELECTOR_SCHEMA.description} {tensor: NAME} is a tensor. {select, matches: any} and {tensor, matches: any} may also mean none.`,
        },
        default: [],
        description: 'Nodes and tensors that stay in float.',
      },
      overrides: {
        type: 'array',
        items: OVERRIDE,
        default: [],
        description: 'What single tensors get. Later ones win, knob by knob.',
      },
      qdqDomain: {
        type: 'string',
        enum: ['ai.onnx', 'com.microsoft'],
        description:
          "Domain of QuantizeLinear and DequantizeLinear; the preset's where absent. com.microsoft has 16-bit integers and scales per channel from opset 10 on.",
      },
    },
  },
  inputs: {
    model: port('onnx-model', 'The float model.'),
    sketches: port('sketches', 'What `calibrate` saw of this very model.'),
  },
  outputs: {
    model: port('onnx-model', 'The QDQ model; its inputs and outputs are those of the float model.'),
    report: port('report', 'Range, scale and zero point of every tensor, and why nodes stay in float.'),
  },
  determinism: 'exact',
  runsModels: 'never',
  checkParams: checkQuantizeParams,
  run: async job => (await import('./run.js')).runQuantize(job),
});
