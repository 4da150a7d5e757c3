/** Declaration of the `simplify` plugin: removes nodes without changing the model's results. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { SIMPLIFY_PARAMS } from './params.js';

export const simplify = defineStage({
  name: 'simplify',
  version: 1,
  description: 'Folds constants, infers shapes, fuses and removes nodes until nothing changes, and checks equality on sample inputs.',
  params: SIMPLIFY_PARAMS,
  inputs: {
    model: port('onnx-model', 'Any model.'),
    tensors: port(
      'any',
      'Inputs on which equality is checked, instead of random ones: a .npz or .npy file, or a folder of these or of ONNX test data.',
      {
        optional: true,
      },
    ),
  },
  outputs: {
    model: port('onnx-model', 'The same function with fewer nodes.'),
    report: port('report', 'Every pass that changed something, node counts, and the proof.'),
  },
  determinism: 'exact',
  runsModels: 'always',
  run: async job => (await import('./run.js')).runSimplify(job),
});
