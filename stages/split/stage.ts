/** What does `split` take and give? A model, and names of values to cut it at, or what says where they are; one model per part. */

import { MASKRCNN_PIECES } from '../../src/detection/families/maskrcnn/cut-names.js';
import { MASKRCNN_PARTS } from '../../src/detection/families/maskrcnn/recipe.js';
import { MASKSCORING_PARTS } from '../../src/detection/families/maskscoring/recipe.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { type Ports, port } from '../../src/stage/ports.js';
import { SPLIT_PARAMS, type SplitParams } from './params.js';

export const split = defineStage<SplitParams>({
  name: 'split',
  version: 1,
  description: 'Cuts a model into parts between named values, by a recipe, by the structure of a known detector, or as listed.',
  params: SPLIT_PARAMS,
  inputs: params => ({ model: port('onnx-model', 'The whole.'), ...whereToCut(params) }),
  outputs: params => ({
    ...(Object.fromEntries(partNames(params).map(name => [name, port('onnx-model', `The part ${name}.`)])) satisfies Ports),
    ...(params.cuts === 'structure' ? { recipe: port('recipe', 'How the host joins the parts.') } : {}),
    report: port('report', 'What each part holds, and which nodes none does.'),
  }),
  determinism: 'exact',
  runsModels: 'never',
  checkParams: params => [
    ...((params.recipe === undefined) === (params.parts === undefined) ? ['give one of "recipe" and "parts"'] : []),
    ...(params.cuts !== undefined && params.recipe === undefined ? ['"cuts" goes with "recipe"'] : []),
    ...(params.cuts === 'structure' && params.recipe === 'maskscoring' ? ['"cuts: structure" knows the structure of maskrcnn alone'] : []),
    ...(params.fit !== undefined && params.cuts !== 'structure'
      ? ['"fit" goes with "cuts: structure"; a recipe that is given says its own']
      : []),
    ...(params.between !== undefined && params.cuts !== 'structure'
      ? ['"between" goes with "cuts: structure": a model that `export` built has nothing between its parts']
      : []),
    ...(partNames(params).includes('report') ? ['a part cannot be named "report": that is the output port of the report'] : []),
  ],
  run: async job => (await import('./run.js')).runSplit(job),
});

function whereToCut({ recipe, cuts }: SplitParams): Ports {
  if (recipe === undefined) return {};
  return cuts === 'structure'
    ? { config: port('detector-config', 'What the model cannot say: normalisation, anchors, thresholds, categories.') }
    : { recipe: port('recipe', 'Names the parts and their values.') };
}

function partNames({ recipe, parts, between }: SplitParams): readonly string[] {
  if (recipe === undefined) return Object.keys(parts ?? {});
  if (recipe === 'maskscoring') return MASKSCORING_PARTS;
  return between === 'pieces' ? MASKRCNN_PIECES : MASKRCNN_PARTS;
}
