/** Declaration of `export`: builds the ONNX model and the host recipe of a detector from a checkpoint. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { checkExportParams, EXPORT_PARAMS } from './params.js';

export const exportStage = defineStage({
  name: 'export',
  version: 1,
  description: 'Builds the ONNX model of a detector from its checkpoint, and the host recipe, by which the host joins its parts.',
  params: EXPORT_PARAMS,
  inputs: params => ({
    checkpoint: port('checkpoint', "The network's state dict."),
    config: port('detector-config', 'Values that the checkpoint does not contain.', { optional: params.defaults !== undefined }),
  }),
  outputs: {
    model: port('onnx-model', 'The parts of the network in one model, without connections between them.'),
    recipe: port('recipe', 'Host recipe: how the host joins the parts.'),
    report: port('report', 'Sizes read from the checkpoint, parameter counts, and the source of every config value.'),
  },
  determinism: 'exact',
  runsModels: 'never',
  checkParams: checkExportParams,
  run: async job => (await import('./run.js')).runExport(job),
});
