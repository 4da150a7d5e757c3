/** Params of `compile`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';

export const COMPILE_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    target: {
      type: 'string',
      minLength: 1,
      description: 'ryzen-ai, generic-int8, or the name of the profile that is connected. Optional with a profile.',
    },
    device: {
      type: 'string',
      minLength: 1,
      description: "One of the profile's devices, for example phx-hpt or stx-krk; default: that of the profile.",
    },
    dtype: {
      type: 'string',
      minLength: 1,
      description: "One of the profile's data types, for example xint8, a8w8, a16w8 or bf16; default: that of the profile.",
    },
    software: { type: 'string', minLength: 1, description: "Version of the vendor's software; default: that of the profile." },
    undocumented: {
      type: 'string',
      enum: ['cpu', 'npu'],
      default: 'cpu',
      description: 'The device of nodes with undocumented operators. npu: trust that the target runs them.',
    },
    largerBatch: {
      type: 'string',
      enum: ['cpu', 'npu'],
      default: 'cpu',
      description:
        'The device of models with a batch above 1 that only an assumption of the target profile refuses (a8w8, a16w8). npu: trust that the target runs it.',
    },
    place: {
      anyOf: [{ const: 'auto' }, { type: 'object', additionalProperties: { type: 'string', enum: ['npu', 'cpu'] } }],
      default: {},
      description:
        'Part of the detector, or model → the device that runs it: {box_head: cpu}. A model on the CPU may be a float model; a part on the CPU runs without tiles. Default: npu. auto: where an image takes less time, by the times of `measured`, else by an estimate.',
    },
    pin: {
      type: 'object',
      additionalProperties: { type: 'integer', minimum: 1 },
      default: {},
      description: 'Numbers for named sizes of inputs: {box_rois: 1}. The compiled models in the bundle have these sizes fixed.',
    },
    rois: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 },
      default: {},
      description:
        'Model, or part on tiles → RoIs per image, one number per image, for the calls per image and the estimate by batch size. Default: counts from `captured`.',
    },
    batches: {
      type: 'array',
      items: { type: 'integer', minimum: 1 },
      minItems: 1,
      uniqueItems: true,
      default: [1, 4, 8, 16, 32, 64],
      description: 'Batch sizes to compare in the estimate; those that the target refuses are left out.',
    },
    providerOptions: {
      type: 'object',
      additionalProperties: { type: 'string' },
      default: {},
      description:
        'For ryzen-ai: options of the execution provider for the chosen device and version, such as {target: X1, opt_level: "1"}. They join the cache key.',
    },
    outputs: {
      type: 'string',
      enum: ['separate', 'merged'],
      default: 'separate',
      description:
        'merged: for bf16, a model in the bundle computes all its outputs as one row, as some versions compute several outputs wrong; the programs of the bundle take it apart.',
    },
    golden: {
      type: 'integer',
      minimum: 0,
      default: 1,
      description:
        'Golden samples per model in the bundle, to check the board: captured inputs, or else seeded random ones, and with them two random probes; 0: none.',
    },
  },
} as const;

export type CompileParams = FromSchema<typeof COMPILE_PARAMS>;
