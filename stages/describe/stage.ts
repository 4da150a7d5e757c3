/** What does `describe` take and give? A network that is a detector by itself, and what it does not say; the recipe by which the host uses it. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { checkDescribeParams, DESCRIBE_PARAMS, type DescribeParams } from './params.js';

export const describe = defineStage<DescribeParams>({
  name: 'describe',
  version: 1,
  description:
    'Says how one plain network is a detector: preprocessing, decoder, suppression, categories. Gives the recipe that other stages take.',
  params: DESCRIBE_PARAMS,
  inputs: ({ decoder }) => ({
    model: port('onnx-model', 'The network: its input and outputs are looked at.'),
    ...(decoder.module === undefined ? {} : { decoder: port('file', 'A JavaScript module that exports `decode`.') }),
  }),
  outputs: { recipe: port('recipe', 'How the host uses the network.') },
  determinism: 'exact',
  runsModels: 'never',
  checkParams: checkDescribeParams,
  run: async job => (await import('./run.js')).runDescribe(job),
});
