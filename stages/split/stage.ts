/** Declaration of `split`: cuts a model into one model per part. */

import { defineStage } from '../../src/stage/define-stage.js';
import { type Ports, port } from '../../src/stage/ports.js';
import { extractsCpuSubgraphs, findFamily, listStructureFamilies, SPLIT_PARAMS, type SplitParams } from './params.js';

export const split = defineStage({
  name: 'split',
  version: 1,
  description: 'Cuts a model into parts between named values: by a host recipe, by the structure of a known detector, or as listed.',
  params: SPLIT_PARAMS,
  inputs: params => ({ model: port('onnx-model', 'The whole model.'), ...listCutInputs(params) }),
  outputs: params => ({
    ...(Object.fromEntries(listPartNames(params).map(name => [name, port('onnx-model', `The part ${name}.`)])) satisfies Ports),
    ...(params.cuts === 'structure' ? { recipe: port('recipe', 'Host recipe: how the host joins the parts.') } : {}),
    report: port('report', 'Nodes and values of each part, and the nodes that are in no part.'),
  }),
  determinism: 'exact',
  runsModels: 'never',
  checkParams: params => [
    ...((params.recipe === undefined) === (params.parts === undefined) ? ['give exactly one of `recipe` and `parts`'] : []),
    ...(params.cuts !== undefined && params.recipe === undefined ? ['`cuts` needs `recipe`'] : []),
    ...(params.cuts === 'structure' && params.recipe !== undefined && findFamily(params)?.structureCut === undefined
      ? [`\`cuts: structure\` is for \`recipe: ${listStructureFamilies().join('` and `')}\` only`]
      : []),
    ...(params.fit !== undefined && params.cuts !== 'structure'
      ? ['`fit` needs `cuts: structure`; a given host recipe has its own fit policy']
      : []),
    ...(params.between !== undefined && params.cuts !== 'structure'
      ? ['`between` needs `cuts: structure`: a model that `export` built has no nodes between its parts']
      : []),
    ...(listPartNames(params).includes('report') ? ['a part cannot be named `report`: that is the output port of the report'] : []),
  ],
  run: async job => (await import('./run.js')).runSplit(job),
});

function listCutInputs({ recipe, cuts }: SplitParams): Ports {
  if (recipe === undefined) return {};
  return cuts === 'structure'
    ? { config: port('detector-config', 'Values that the model does not have: normalization, anchors, thresholds, categories.') }
    : { recipe: port('recipe', 'Host recipe, which names the parts and their values.') };
}

function listPartNames(params: SplitParams): readonly string[] {
  const family = findFamily(params);
  if (family === undefined) return Object.keys(params.parts ?? {});
  return extractsCpuSubgraphs(params) ? (family.structureCut?.subgraphs ?? family.parts) : family.parts;
}
