/** What does `export` take and give? A checkpoint and its detector config; an ONNX model, a recipe for the host, and a report. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { checkExportParams, EXPORT_PARAMS, type ExportParams } from './params.js';

export const exportStage = defineStage<ExportParams>({
  name: 'export',
  version: 1,
  description: 'Builds the ONNX model of a detector from its checkpoint, with a recipe of how the host joins its parts.',
  params: EXPORT_PARAMS,
  inputs: params => ({
    checkpoint: port('checkpoint', "The network's state dict."),
    config: port('detector-config', 'What the checkpoint cannot hold.', { optional: params.defaults !== undefined }),
  }),
  outputs: {
    model: port('onnx-model', 'The parts of the network in one model, without connections between them.'),
    recipe: port('recipe', 'How the host joins the parts.'),
    report: port('report', 'Sizes read from the checkpoint, parameter counts, and where every config value came from.'),
  },
  determinism: 'exact',
  runsModels: 'never',
  checkParams: checkExportParams,
  run: async job => (await import('./run.js')).runExport(job),
});
