/** Declaration of the `simplify` plugin: removes nodes without changing the model's results. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import type { SimplifyParams } from './params.js';

export const simplify = defineStage<SimplifyParams>({
  name: 'simplify',
  version: 1,
  description: 'Folds constants, infers shapes, fuses and removes nodes until nothing changes, and checks equality on sample inputs.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      foldLimitBytes: { type: 'integer', minimum: 0, default: 1 << 20, description: 'Largest constant that folding may create.' },
      skip: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        uniqueItems: true,
        default: [],
        description: 'Passes to skip, by name.',
      },
      samples: {
        type: 'integer',
        minimum: 0,
        default: 2,
        description: 'Number of inputs on which equality is checked, random unless `tensors` is connected; 0: none.',
      },
      tolerance: {
        type: 'number',
        minimum: 0,
        default: 1e-4,
        description:
          'For passes that round: the largest allowed difference of an output, as a share of its standard deviation. Exact passes must keep every bit.',
      },
      freeSize: {
        type: 'integer',
        minimum: 1,
        default: 3,
        description: 'Size of a free dimension in the samples, for example a RoI batch.',
      },
      sizes: {
        type: 'object',
        additionalProperties: { type: 'integer', minimum: 1 },
        default: {},
        description: 'Sizes of free dimensions in the samples, by name.',
      },
    },
  },
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
