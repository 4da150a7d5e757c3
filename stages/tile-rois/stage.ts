/** Declaration of the `tile-rois` plugin: heads that run once per RoI run many RoIs per call, as tiles of one canvas. */
import { defineStage } from '../../src/stage/define-stage.js';
import { type Ports, port, recordPort } from '../../src/stage/ports.js';
import { listModels, TILE_ROIS_PARAMS } from './params.js';

export const tileRois = defineStage({
  name: 'tile-rois',
  version: 1,
  description:
    'Rewrites quantized RoI heads so that one call with batch 1 serves many RoIs, as tiles of one canvas; the recipe says how the host packs them.',
  params: TILE_ROIS_PARAMS,
  inputs: params => ({
    models: recordPort(
      Object.fromEntries(Object.keys(params.heads).map(head => [head, 'onnx-model'])),
      'The heads, by their names in the recipe.',
    ),
    recipe: port('recipe', 'Host recipe whose heads take any number of RoIs.'),
    captured: port('captured', 'RoI counts per image, which choose the grids.', { optional: true }),
    profile: port('json', 'Your own target profile, instead of a built-in one.', { optional: true }),
  }),
  outputs: params => ({
    ...(Object.fromEntries(listModels(params).map(name => [name, port('onnx-model', `The model ${name} on tiles.`)])) satisfies Ports),
    recipe: port('recipe', 'The host recipe, with tiles.'),
    report: port('report', 'Per head the grids and forms that were compared, with estimates, and the chosen ones.'),
    metrics: port('metrics', 'Per head: calls per image, estimated latency per image, and share of the multiply-accumulates on the NPU.'),
  }),
  headlines: [],
  determinism: 'exact',
  // ONNX Runtime folds constants for the estimate.
  runsModels: 'always',
  checkParams: params => {
    const names = [...listModels(params), 'recipe', 'report', 'metrics'];
    const repeated = names.find((name, index) => names.indexOf(name) !== index);
    return repeated === undefined ? [] : [`two outputs are named \`${repeated}\`: rename a head`];
  },
  run: async job => (await import('./run.js')).runTileRois(job),
});
