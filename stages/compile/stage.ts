/** What does `compile` take and give? Quantized models and a target; where each node would run and why, how long it might take, and a bundle for the board. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import type { CompileParams } from './params.js';

export const compile = defineStage<CompileParams>({
  name: 'compile',
  version: 1,
  description:
    'Says what an NPU runs of quantized models and why not the rest, cuts them into parts, estimates latency, and writes a bundle.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      target: { type: 'string', minLength: 1, description: 'ryzen-ai, generic-int8, or the name of the profile that is connected.' },
      device: {
        type: 'string',
        minLength: 1,
        description: "One of the profile's devices, such as phx-hpt or stx-krk; its default where absent.",
      },
      dtype: {
        type: 'string',
        minLength: 1,
        description: "One of the profile's data types, such as xint8, a8w8 or a16w8; its default where absent.",
      },
      software: { type: 'string', minLength: 1, description: "Version of the vendor's software; the profile's default where absent." },
      undocumented: {
        type: 'string',
        enum: ['cpu', 'npu'],
        default: 'cpu',
        description: 'Where nodes are placed that no document names. npu: trust that the target runs them.',
      },
      pin: {
        type: 'object',
        additionalProperties: { type: 'integer', minimum: 1 },
        default: {},
        description: 'Numbers for named sizes of inputs: {box_rois: 16}. What is compiled, and goes into the bundle, has them fixed.',
      },
      rois: {
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 },
        default: {},
        description:
          'Model → how many RoIs an image has, one number per image: for the estimate by batch size. `captured` counts where it is connected.',
      },
      batches: {
        type: 'array',
        items: { type: 'integer', minimum: 1 },
        minItems: 1,
        uniqueItems: true,
        default: [1, 4, 8, 16, 32, 64],
        description: 'Batch sizes that the estimate compares.',
      },
      golden: {
        type: 'integer',
        minimum: 0,
        default: 1,
        description: 'Samples per model whose outputs go into the bundle, so that the board can be checked: captured ones, or random ones.',
      },
    },
  },
  inputs: {
    model: port('onnx-model', 'A quantized model; it is called "model". Either this or `models`.', { optional: true }),
    models: recordPort('any', 'Quantized models by name, such as the parts of a detector.', { optional: true, kind: 'onnx-model' }),
    profile: port('json', 'A target profile of your own, instead of a built-in one.', { optional: true }),
    captured: port(
      'captured',
      'What `capture` gave for parts with the names of the models: their RoI counts, and inputs of golden values.',
      { optional: true },
    ),
  },
  outputs: {
    report: port('report', 'Units with reasons, parts, estimates.'),
    metrics: port(
      'metrics',
      'Per model and in total: nodes on NPU and CPU, parts, share of the multiply-accumulates on the NPU, estimated latency.',
    ),
    bundle: port('bundle', 'What a user carries to the board: whole models, their parts, options, golden values, a manifest.'),
  },
  determinism: 'exact',
  // Constants are folded, and golden values made, by ONNX Runtime.
  runsModels: 'always',
  run: async job => (await import('./run.js')).runCompile(job),
});
