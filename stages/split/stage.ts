/** What does `split` take and give? A model, and names of values to cut it at; one model per part. */
import { MASKRCNN_PARTS } from '../../src/detection/recipe.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { type Ports, port } from '../../src/stage/ports.js';
import { SPLIT_PARAMS, type SplitParams } from './params.js';

export const split = defineStage<SplitParams>({
  name: 'split',
  version: 1,
  description: 'Cuts a model into parts between named values, by a recipe or as listed.',
  params: SPLIT_PARAMS,
  inputs: ({ recipe }) => ({
    model: port('onnx-model', 'The whole.'),
    ...(recipe === undefined ? {} : { recipe: port('recipe', 'Names the parts and their values.') }),
  }),
  outputs: params => ({
    ...(Object.fromEntries(partNames(params).map(name => [name, port('onnx-model', `The part ${name}.`)])) satisfies Ports),
    report: port('report', 'What each part holds, and which nodes none does.'),
  }),
  determinism: 'exact',
  runsModels: 'never',
  checkParams: params => [
    ...((params.recipe === undefined) === (params.parts === undefined) ? ['give one of "recipe" and "parts"'] : []),
    ...(partNames(params).includes('report') ? ['a part cannot be named "report": that is the output port of the report'] : []),
  ],
  run: async job => (await import('./run.js')).runSplit(job),
});

function partNames({ recipe, parts }: SplitParams): readonly string[] {
  return recipe === undefined ? Object.keys(parts ?? {}) : MASKRCNN_PARTS;
}
