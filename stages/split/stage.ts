/** Declaration of `split`: cuts a model into one model per part. */

import { listStaticParts } from '../../src/onnx/surgery/static-part-names.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { type Ports, port } from '../../src/stage/ports.js';
import { extractsCpuSubgraphs, findFamily, listStructureFamilies, readStaticCut, SPLIT_PARAMS, type SplitParams } from './params.js';

export const split = defineStage({
  name: 'split',
  version: 2,
  description: 'Cuts a model into parts between named values: by a host recipe, by the structure of a detector, or as listed.',
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
    ...checkWay(params),
    ...checkStatic(params),
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

/** There is exactly one way to find the parts. */
function checkWay({ recipe, parts, cuts }: SplitParams): readonly string[] {
  if (cuts === 'static')
    return recipe === undefined && parts === undefined ? [] : ['`cuts: static` finds the parts itself: remove `recipe` and `parts`'];
  if ((recipe === undefined) === (parts === undefined)) return ['give exactly one of `recipe`, `parts` and `cuts: static`'];
  return cuts !== undefined && recipe === undefined ? [`\`cuts: ${cuts}\` needs \`recipe\``] : [];
}

function checkStatic(params: SplitParams): readonly string[] {
  const { cuts, heads, prepare } = params;
  if (cuts !== 'static') return heads === undefined && prepare === undefined ? [] : ['`heads` and `prepare` need `cuts: static`'];
  const names = listStaticParts(readStaticCut(params));
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated === undefined ? [] : [`\`heads\` gives two parts the name \`${repeated}\``];
}

function listCutInputs({ recipe, cuts }: SplitParams): Ports {
  if (recipe === undefined) return {};
  return cuts === 'structure'
    ? { config: port('detector-config', 'Values that the model does not have: normalization, anchors, thresholds, categories.') }
    : { recipe: port('recipe', 'Host recipe, which names the parts and their values.') };
}

function listPartNames(params: SplitParams): readonly string[] {
  if (params.cuts === 'static') return listStaticParts(readStaticCut(params));
  const family = findFamily(params);
  if (family === undefined) return Object.keys(params.parts ?? {});
  return extractsCpuSubgraphs(params) ? (family.structureCut?.subgraphs ?? family.parts) : family.parts;
}
