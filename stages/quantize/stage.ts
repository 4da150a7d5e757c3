/** What does `quantize` take and give? A float model and its sketches; a QDQ model and a report of every tensor. */
import { NODE_SELECTOR_SCHEMA } from '../../src/onnx/select-nodes.js';
import { PRESETS } from '../../src/quant/scheme.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import type { QuantizeParams } from './params.js';

const DTYPE = { type: 'string', enum: ['int8', 'uint8', 'int16', 'uint16'] } as const;

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
        description: 'A named set of all knobs. u8s8: activations uint8, weights int8 symmetric. a8w8: both int8 symmetric.',
      },
      activation: {
        type: 'object',
        additionalProperties: false,
        default: {},
        properties: {
          dtype: { ...DTYPE, description: 'Integers of activations.' },
          symmetric: { type: 'boolean', description: 'Whether zero stands in the middle of the integers.' },
        },
        description: 'Turns single knobs of the preset.',
      },
      weight: {
        type: 'object',
        additionalProperties: false,
        default: {},
        properties: {
          dtype: { ...DTYPE, description: 'Integers of weights.' },
          symmetric: { type: 'boolean', description: 'Whether zero stands in the middle of the integers.' },
          perChannel: { type: 'boolean', description: 'One scale per output channel instead of one per tensor.' },
          reduceRange: { type: 'boolean', description: 'One bit less, for processors whose 8-bit products saturate in 16 bits.' },
        },
        description: 'Turns single knobs of the preset.',
      },
      opTypes: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        minItems: 1,
        uniqueItems: true,
        description: "Only nodes of these operators are quantized; the preset's list where absent.",
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
              properties: { select: NODE_SELECTOR_SCHEMA, matches: { const: 'any' } },
            },
          ],
          description: `${NODE_SELECTOR_SCHEMA.description} {select, matches: any} may also mean none.`,
        },
        default: [],
        description: 'Nodes that stay in float.',
      },
      qdqDomain: {
        type: 'string',
        enum: ['ai.onnx', 'com.microsoft'],
        default: 'ai.onnx',
        description:
          'Domain of QuantizeLinear and DequantizeLinear. com.microsoft has 16-bit integers and scales per channel from opset 10 on.',
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
  run: async job => (await import('./run.js')).runQuantize(job),
});
