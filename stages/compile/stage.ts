/** Declaration of the `compile` plugin: predicts the device of each node with reasons, estimates latency, and writes a deployment bundle. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import type { CompileParams } from './params.js';

export const compile = defineStage<CompileParams>({
  name: 'compile',
  version: 1,
  description:
    'Finds which nodes of quantized models an NPU can run and why not the others, cuts the models into parts, estimates latency, and writes a bundle.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      target: { type: 'string', minLength: 1, description: 'ryzen-ai, generic-int8, or the name of the profile that is connected.' },
      device: {
        type: 'string',
        minLength: 1,
        description: "One of the profile's devices, for example phx-hpt or stx-krk; default: that of the profile.",
      },
      dtype: {
        type: 'string',
        minLength: 1,
        description: "One of the profile's data types, for example xint8, a8w8 or a16w8; default: that of the profile.",
      },
      software: { type: 'string', minLength: 1, description: "Version of the vendor's software; default: that of the profile." },
      undocumented: {
        type: 'string',
        enum: ['cpu', 'npu'],
        default: 'cpu',
        description: 'The device of nodes with undocumented operators. npu: trust that the target runs them.',
      },
      pin: {
        type: 'object',
        additionalProperties: { type: 'integer', minimum: 1 },
        default: {},
        description: 'Numbers for named sizes of inputs: {box_rois: 16}. The compiled models in the bundle have these sizes fixed.',
      },
      rois: {
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 },
        default: {},
        description: 'Model → RoIs per image, one number per image, for the estimate by batch size. Default: counts from `captured`.',
      },
      batches: {
        type: 'array',
        items: { type: 'integer', minimum: 1 },
        minItems: 1,
        uniqueItems: true,
        default: [1, 4, 8, 16, 32, 64],
        description: 'Batch sizes to compare in the estimate.',
      },
      golden: {
        type: 'integer',
        minimum: 0,
        default: 1,
        description: 'Golden samples per model in the bundle, to check the board: from captured inputs, or random ones.',
      },
    },
  },
  inputs: {
    model: port('onnx-model', 'A quantized model, named "model". Either this or `models`.', { optional: true }),
    models: recordPort('any', 'Quantized models by name, for example the parts of a detector.', { optional: true, kind: 'onnx-model' }),
    profile: port('json', 'Your own target profile, instead of a built-in one.', { optional: true }),
    captured: port('captured', 'Captured tensors of parts with the names of the models: RoI counts, and inputs of golden values.', {
      optional: true,
    }),
  },
  outputs: {
    report: port('report', 'Units with findings, parts, estimates.'),
    metrics: port(
      'metrics',
      'Per model and in total: nodes on NPU and CPU, parts, share of the multiply-accumulates on the NPU, estimated latency.',
    ),
    bundle: port('bundle', 'Deployment bundle: whole models, their parts, options, golden values, a manifest.'),
  },
  determinism: 'exact',
  // ONNX Runtime folds constants and computes golden values.
  runsModels: 'always',
  run: async job => (await import('./run.js')).runCompile(job),
});
