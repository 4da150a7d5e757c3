/** What does `evaluate` take and give? The parts of a detector and a data set; the COCO figures, and the detections behind them. */
import { checkRunnerParams, determinismOf, RUNNER_SCHEMA, runnerDevice, runnerTools } from '../../src/runtime/device/runner-params.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import { runnerPorts } from '../../src/stage/runner-port.js';
import type { EvaluateParams } from './params.js';

export const evaluate = defineStage<EvaluateParams>({
  name: 'evaluate',
  version: 1,
  description: 'Runs an assembled detector over a data set: the 12 COCO figures for boxes and for masks, and the detections.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...RUNNER_SCHEMA,
      samples: { type: 'integer', minimum: 1, description: 'The first so many images by id; all where absent.' },
      iouTypes: {
        type: 'array',
        items: { type: 'string', enum: ['bbox', 'segm'] },
        minItems: 1,
        uniqueItems: true,
        default: ['bbox', 'segm'],
        description: 'What is measured: boxes, masks.',
      },
      optimization: {
        type: 'string',
        enum: ['disabled', 'basic', 'extended', 'all'],
        default: 'all',
        description: "ONNX Runtime's graph optimisation level.",
      },
      fit: {
        type: 'string',
        enum: ['static', 'torchvision'],
        description: "How images of other sizes are fitted to the model's input; the recipe's policy where absent.",
      },
    },
  },
  inputs: params => ({
    parts: recordPort('any', 'The parts of the detector: one model per part of the recipe, by its name.', { kind: 'onnx-model' }),
    recipe: port('recipe', 'How the host joins them.'),
    config: port('detector-config', "Thresholds, counts, mean and std; the recipe's own where absent.", { optional: true }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'What to detect in, and what is there.'),
    baseline: port('metrics', 'Metrics of another `evaluate`: ours then have the differences to them.', { optional: true }),
    ...runnerPorts(params),
  }),
  outputs: {
    metrics: port('metrics', 'bbox and segm: 12 figures each; images, detections; delta where there is a baseline.'),
    detections: port('detections', 'Every detection, in COCO results form.'),
  },
  determinism: determinismOf,
  tools: runnerTools,
  device: runnerDevice,
  checkParams: checkRunnerParams,
  runsModels: 'always',
  run: async job => (await import('./run.js')).runEvaluate(job),
});
