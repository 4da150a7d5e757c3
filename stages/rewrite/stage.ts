/** Declaration of the `rewrite` plugin: applies named rules and edits, and measures their price. */

import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import { checkEdits, checkRules } from './check-params.js';
import { REWRITE_PARAMS } from './params.js';

export const rewrite = defineStage({
  name: 'rewrite',
  version: 1,
  description: 'Applies named rules with their proof class, and edits of attributes and constants by selector; measures their price.',
  params: REWRITE_PARAMS,
  inputs: {
    model: port('onnx-model', 'Any model.'),
    sketches: port('sketches', 'Calibration sketches of the model, for rules that read ranges.', { optional: true }),
    recipe: port('recipe', 'How images become the input of the model: required for measuring the price.', { optional: true }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'Images for measuring the price.', { optional: true }),
  },
  outputs: {
    model: port('onnx-model', 'The rewritten model.'),
    report: port('report', 'Per rule its proof class and the changed nodes; the edits; the price.'),
  },
  determinism: 'exact',
  runsModels: 'always',
  checkParams: params => [...checkRules(params.rules), ...checkEdits(params.edits)],
  run: async job => (await import('./run.js')).runRewrite(job),
});
