/** Declaration of the `verify` plugin: compares two forms of a detector, part or model, and checks thresholds. */
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import { checkRunnerParams, determinismOf, RUNNER_SCHEMA, runnerDevice, runnerTools } from '../../src/runtime/device/runner-params.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { type Port, type Ports, port, recordPort } from '../../src/stage/ports.js';
import { runnerPorts } from '../../src/stage/runner-port.js';
import type { SideForm, VerifyParams } from './params.js';

const bound = (description: string, range: { minimum?: number; maximum?: number } = {}) => ({
  anyOf: [
    { type: 'number', ...range },
    { type: 'object', additionalProperties: { type: 'number', ...range }, minProperties: 1 },
  ],
  description,
});

const share = (description: string) => ({ type: 'number', minimum: 0, maximum: 1, description });

const form = (side: string, forms: readonly SideForm[], more: string) => ({
  type: 'string',
  enum: forms,
  default: 'parts',
  description: `The form of the ${side}: parts, a record of a detector's models (with \`part\`, the model of that part); whole, one model with all of their inputs and outputs; model, one model without a detector${more}.`,
});

export const verify = defineStage<VerifyParams>({
  name: 'verify',
  version: 1,
  description:
    'Compares two forms of a detector, a part or a model, or a model and captured tensors: every output, inner values, detections.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      part: {
        type: 'string',
        minLength: 1,
        description: 'Compare only this part: both sides are its model; with captured tensors, the captured part.',
      },
      reference: form('reference', ['parts', 'whole', 'model', 'captured'], '; captured, captured tensors'),
      candidate: form('candidate', ['parts', 'whole', 'model'], ''),
      values: {
        type: 'string',
        enum: ['outputs', 'all'],
        default: 'outputs',
        description: 'outputs: outputs of each part. all: also every inner value, with its propagated error, for the report.',
      },
      ...RUNNER_SCHEMA,
      samples: {
        type: 'integer',
        minimum: 1,
        default: 4,
        description: 'Number of samples: the first images by id, files by name (from each folder in turn), or captured samples.',
      },
      images: {
        type: 'array',
        items: { type: 'integer' },
        minItems: 1,
        uniqueItems: true,
        description: 'Image ids, instead of `samples`.',
      },
      optimization: {
        type: 'string',
        enum: ['disabled', 'basic', 'extended', 'all'],
        default: 'all',
        description: "ONNX Runtime's graph optimization level, on both sides.",
      },
      fit: {
        type: 'string',
        enum: ['static', 'torchvision'],
        description: "How images are fitted to the model's input; default: the policy of the recipe.",
      },
      preprocess: PREPROCESSING_SCHEMA,
      matchIou: { ...share('Smallest box IoU at which two detections of one class match.'), default: 0.5 },
      minScore: {
        ...share('Detections below this score count neither as missed nor as extra; pairs of two such detections are ignored.'),
        default: 0,
      },
      thresholds: {
        type: 'object',
        additionalProperties: false,
        default: {},
        description:
          'Bounds; the stage fails if one is missed. For values: a number, or an object by value name with `default` for the others.',
        properties: {
          minSqnrDb: bound('Smallest SQNR in dB of a value. Equal values meet every bound.'),
          minCosine: bound('Smallest cosine of a value.', { minimum: -1, maximum: 1 }),
          maxAbs: bound('Largest absolute difference of a value; 0: equal.', { minimum: 0 }),
          maxMissed: share('Largest share of the reference’s detections without a match.'),
          maxExtra: share('Largest share of the candidate’s detections without a match.'),
          maxScoreDifference: share('Largest score difference of a matched pair.'),
          minBoxIou: share('Smallest box IoU of a matched pair.'),
          minMaskIou: share('Smallest mask IoU of a matched pair.'),
        },
      },
    },
  },
  inputs: portsOf,
  outputs: {
    report: port(
      'report',
      'Per value: max-abs, cosine, SQNR; also inner values with `values: all`. Detections: missed, extra, differences of matched pairs.',
    ),
    metrics: port('metrics', 'The numbers of the report, for gates.'),
  },
  determinism: determinismOf,
  tools: runnerTools,
  device: runnerDevice,
  runsModels: 'always',
  checkParams: params => [...checkRunnerParams(params), ...checkForms(params)],
  run: async job => (await import('./run.js')).runVerify(job),
});

/** Invalid combinations, one line each. */
function checkForms({ part, reference, candidate, values, runner, thresholds, preprocess }: VerifyParams): string[] {
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
};
