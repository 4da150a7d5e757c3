/** What does `import` take and give? Any ONNX file, with its external data; the same model in one file, in a known operator set, with static shapes. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { IMPORT_PARAMS, type ImportParams } from './params.js';

export const importStage = defineStage<ImportParams>({
  name: 'import',
  version: 1,
  description: 'Takes an existing ONNX model in: checked, its operator set converted, shapes pinned, preprocessing cut off.',
  params: IMPORT_PARAMS,
  inputs: {
    model: port('onnx-model', 'Any ONNX file from operator set 7 on.'),
    externalData: port('folder', "The folder that the model's external data lies in.", { optional: true }),
  },
  outputs: {
    model: port('onnx-model', 'The model, with its weights inside.'),
    report: port('report', 'What was pinned, converted, removed and folded; inputs and outputs; the proof.'),
  },
  determinism: 'exact',
  runsModels: 'always',
  run: async job => (await import('./run.js')).runImport(job),
});
