/** Declaration of `describe`: makes the host recipe of a single-network detector. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import { checkDescribeParams, DESCRIBE_PARAMS } from './params.js';

export const describe = defineStage({
  name: 'describe',
  version: 1,
  description:
    'Describes a single network as a detector: preprocessing, decoder, suppression, categories. Writes the host recipe that other stages read.',
  params: DESCRIBE_PARAMS,
  inputs: ({ decoder }) => ({
    model: port('onnx-model', 'The network, whose inputs and outputs are read.'),
    prepare: port('onnx-model', 'Nodes of a whole detector before the network: the part `prepare` of `split`, which takes the image.', {
      optional: true,
    }),
    rest: port('onnx-model', 'Nodes of a whole detector after the network: the part `rest` of `split`, whose outputs the decoder reads.', {
      optional: true,
    }),
    heads: recordPort(
      'any',
      'Parts of a whole detector between the network and `rest`: heads that `split` named, and what runs before each, by their names.',
      { optional: true, kind: 'onnx-model' },
    ),
    ...(decoder.module === undefined ? {} : { decoder: port('file', 'A JavaScript module that exports `decode`.') }),
  }),
  outputs: { recipe: port('recipe', 'Host recipe: how the host uses the network.') },
  determinism: 'exact',
  runsModels: 'never',
  checkParams: checkDescribeParams,
  run: async job => (await import('./run.js')).runDescribe(job),
});
