/** Declaration of `evaluate`: runs a detector on a data set and computes the COCO figures. */
import { checkRunnerParams, determinismOf, runnerDevice, runnerTools } from '../../src/runtime/device/runner-params.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import { runnerPorts } from '../../src/stage/runner-port.js';
import { EVALUATE_PARAMS } from './params.js';

export const evaluate = defineStage({
  name: 'evaluate',
  version: 1,
  description: 'Runs a detector on a data set: the 12 COCO figures for boxes and for masks, and the detections.',
  params: EVALUATE_PARAMS,
  inputs: params => ({
    parts: recordPort('any', 'The parts of the detector: one model per part of the host recipe, by part name.', { kind: 'onnx-model' }),
    recipe: port('recipe', 'Host recipe: how the host joins the parts.'),
    config: port('detector-config', 'Thresholds, counts, mean and std; default: those of the recipe.', { optional: true }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'Images, and their annotations.'),
    baseline: port('metrics', 'Metrics of another `evaluate`; the metrics then include the differences.', { optional: true }),
    ...runnerPorts(params),
  }),
  outputs: {
    metrics: port('metrics', 'bbox, segm and boundary with 12 figures each, keypoints with 10; images; detections; delta with a baseline.'),
    detections: port('detections', 'All detections in COCO results format.'),
  },
  headlines: [
    { metric: 'bbox.AP', label: 'box AP' },
    { metric: 'segm.AP', label: 'mask AP' },
    { metric: 'boundary.AP', label: 'boundary AP' },
    { metric: 'keypoints.AP', label: 'keypoint AP' },
  ],
  determinism: determinismOf,
  tools: runnerTools,
  device: runnerDevice,
  checkParams: checkRunnerParams,
  runsModels: 'always',
  spreads: 'parts',
  run: async job => (await import('./run.js')).runEvaluate(job),
});
