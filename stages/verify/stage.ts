/** Declaration of the `verify` plugin: compares two forms of a detector, part or model, and checks thresholds. */
import { checkRunnerParams, determinismOf, runnerDevice, runnerTools } from '../../src/runtime/device/runner-params.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { type Port, type Ports, port, recordPort } from '../../src/stage/ports.js';
import { runnerPorts } from '../../src/stage/runner-port.js';
import { type SideForm, VERIFY_PARAMS, type VerifyParams } from './params.js';

export const verify = defineStage({
  name: 'verify',
  version: 2,
  description:
    'Compares two forms of a detector, a part or a model, or a model and captured tensors: every output, inner values, detections.',
  params: VERIFY_PARAMS,
  inputs: portsOf,
  outputs: {
    report: port(
      'report',
      'Per value: max-abs, cosine, SQNR; also inner values with `values: all`. Detections: missed, extra, differences of matched pairs.',
    ),
    metrics: port('metrics', 'The numbers of the report, for gates.'),
  },
  headlines: [],
  determinism: determinismOf,
  tools: runnerTools,
  device: runnerDevice,
  runsModels: 'always',
  checkParams: params => [...checkRunnerParams(params), ...checkForms(params)],
  run: async job => (await import('./run.js')).runVerify(job),
});

/** Invalid combinations, one line each. */
function checkForms({ part, reference, candidate, values, selection, runner, thresholds, preprocess }: VerifyParams): string[] {
  const { maxMissed, maxExtra, maxScoreDifference, minBoxIou, minMaskIou } = thresholds;
  const onDetections = [maxMissed, maxExtra, maxScoreDifference, minBoxIou, minMaskIou].some(one => one !== undefined);
  const problems: string[] = [];
  const isAlone = reference === 'model' || reference === 'captured';
  if (part !== undefined && (reference === 'whole' || candidate === 'whole'))
    problems.push('with `part`, both sides are the model of that part: remove `reference` and `candidate`');
  if ((part !== undefined || isAlone) && onDetections)
    problems.push('thresholds on detections require the whole detector on both sides: remove `part`, and compare parts or whole models');
  if ((reference === 'model') !== (candidate === 'model') && reference !== 'captured')
    problems.push('`reference: model` requires `candidate: model`, and the reverse');
  if (reference === 'captured' && (candidate === 'whole' || (candidate === 'parts' && part !== undefined)))
    problems.push('`reference: captured` requires `candidate: parts`, or `candidate: model` with `part`');
  if (values === 'all' && (reference === 'captured' || reference === 'whole' || candidate === 'whole'))
    problems.push('`values: all` requires the models of the parts on both sides');
  if (values === 'all' && runner !== 'cpu') problems.push('`values: all` reads inner values on this machine and requires `runner: cpu`');
  if (selection === 'reference' && (reference === 'captured' || reference === 'whole' || candidate === 'whole' || runner !== 'cpu'))
    problems.push('`selection: reference` requires the models of the parts on both sides, and `runner: cpu`');
  if (preprocess !== undefined && reference !== 'model')
    problems.push('`preprocess` requires `reference: model`; otherwise the recipe defines the preprocessing');
  return problems;
}

function portsOf(params: VerifyParams): Ports {
  const { part, reference, candidate } = params;
  const side = (text: string, given: SideForm): Port =>
    part !== undefined || given === 'whole' || given === 'model'
      ? port('onnx-model', text)
      : recordPort('any', text, { kind: 'onnx-model' });
  const runner = runnerPorts(params);
  const sides = { reference: side('The reference.', reference), candidate: side('The candidate to compare with it.', candidate) };
  if (reference === 'captured') return { ...sides, reference: port('captured', 'The reference: captured inputs and outputs.'), ...runner };
  if (reference === 'model') return { ...sides, ...OWN_DATA, ...runner };
  return {
    ...sides,
    recipe: port('recipe', 'How the host joins the parts.'),
    candidateRecipe: port('recipe', "How the host joins the candidate's parts, if it differs: that of `tile-rois` for parts on tiles.", {
      optional: true,
    }),
    config: port('detector-config', 'Thresholds, counts, mean and std; default: those of the recipe.', { optional: true }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'The images.'),
    ...(part === undefined
      ? {}
      : { detector: recordPort('any', 'For a head: the detector that computes its RoIs.', { kind: 'onnx-model', optional: true }) }),
    ...runner,
  };
}

/** Inputs for models without a detector: one of these. */
const OWN_DATA: Ports = {
  captured: port('captured', 'Captured tensors; their outputs are not used.', { optional: true }),
  data: recordPort({ annotations: 'annotations', images: 'images' }, 'Images in COCO layout.', { optional: true }),
  images: port('images', 'A folder of images.', { optional: true }),
  tensors: port('any', 'A .npz or .npy file, or a folder of these or of ONNX test data (input_0.pb).', { optional: true }),
  prepare: port('onnx-model', 'With images: a model that makes the inputs of both from the image, such as the part `prepare` of `split`.', {
    optional: true,
  }),
};
