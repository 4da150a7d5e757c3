/** What does `verify` take and give? Two forms of one detector, part or model; how far they are from each other, and whether that is near enough. */
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
  description: `How the ${side} is given: parts, a record of a detector's models (with \`part\`, the model of that part); whole, one model with all of their inputs and outputs; model, one model that stands for itself${more}.`,
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
        description: 'Compare this part alone: the sides are its model; with captured tensors, the captured part.',
      },
      reference: form('reference', ['parts', 'whole', 'model', 'captured'], '; captured, what `capture` kept'),
      candidate: form('candidate', ['parts', 'whole', 'model'], ''),
      values: {
        type: 'string',
        enum: ['outputs', 'all'],
        default: 'outputs',
        description: 'outputs: what each part gives. all: every inner value too, with the error that reaches it, for the report.',
      },
      ...RUNNER_SCHEMA,
      samples: {
        type: 'integer',
        minimum: 1,
        default: 4,
        description: 'Compare on the first so many images by id, files by name (of each folder in turn), captured samples.',
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
        description: "ONNX Runtime's graph optimisation level, on both sides.",
      },
      fit: {
        type: 'string',
        enum: ['static', 'torchvision'],
        description: "How images are fitted to the model's input; the recipe's policy where absent.",
      },
      preprocess: PREPROCESSING_SCHEMA,
      matchIou: { ...share('Detections of one class are partners from this box IoU on.'), default: 0.5 },
      minScore: { ...share('Detections below this score are neither missed nor extra; pairs of two such do not count.'), default: 0 },
      thresholds: {
        type: 'object',
        additionalProperties: false,
        default: {},
        description:
          'Bounds; one that is missed fails the stage. Those of values: a number, or an object of value names, `default` for the others.',
        properties: {
          minSqnrDb: bound('Least SQNR in dB of a value. Equal values meet every bound.'),
          minCosine: bound('Least cosine of a value.', { minimum: -1, maximum: 1 }),
          maxAbs: bound('Largest absolute difference of a value; 0: equal.', { minimum: 0 }),
          maxMissed: share('Largest share of the reference’s detections without a partner.'),
          maxExtra: share('Largest share of the candidate’s detections without a partner.'),
          maxScoreDifference: share('Largest difference of the scores of two partners.'),
          minBoxIou: share('Least box IoU of two partners.'),
          minMaskIou: share('Least mask IoU of two partners.'),
        },
      },
    },
  },
  inputs: portsOf,
  outputs: {
    report: port(
      'report',
      'Per value: max-abs, cosine, SQNR. Inner values with `values: all`. Detections: missed, extra, differences of the matched.',
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

/** Combinations that mean nothing, one line each. */
function checkForms({ part, reference, candidate, values, runner, thresholds, preprocess }: VerifyParams): string[] {
  const { maxMissed, maxExtra, maxScoreDifference, minBoxIou, minMaskIou } = thresholds;
  const onDetections = [maxMissed, maxExtra, maxScoreDifference, minBoxIou, minMaskIou].some(one => one !== undefined);
  const problems: string[] = [];
  const isAlone = reference === 'model' || reference === 'captured';
  if (part !== undefined && (reference === 'whole' || candidate === 'whole'))
    problems.push('with `part`, both sides are the model of that part: leave `reference` and `candidate` out');
  if ((part !== undefined || isAlone) && onDetections)
    problems.push('thresholds on detections need the whole detector on both sides: leave `part` out, and compare parts or whole models');
  if ((reference === 'model') !== (candidate === 'model') && reference !== 'captured')
    problems.push('`reference: model` goes with `candidate: model`, and the reverse');
  if (reference === 'captured' && (candidate === 'whole' || (candidate === 'parts' && part !== undefined)))
    problems.push('with `reference: captured`, the candidate is `parts`, or `model` with the name of its `part`');
  if (values === 'all' && (reference === 'captured' || reference === 'whole' || candidate === 'whole'))
    problems.push('`values: all` needs the models of the parts on both sides');
  if (values === 'all' && runner !== 'cpu') problems.push('`values: all` looks inside models on this machine: it goes with `runner: cpu`');
  if (preprocess !== undefined && reference !== 'model')
    problems.push('`preprocess` is for `reference: model`: a recipe says how images are fitted');
  return problems;
}

function portsOf(params: VerifyParams): Ports {
  const { part, reference, candidate } = params;
  const side = (text: string, given: SideForm): Port =>
    part !== undefined || given === 'whole' || given === 'model'
      ? port('onnx-model', text)
      : recordPort('any', text, { kind: 'onnx-model' });
  const runner = runnerPorts(params);
  const sides = { reference: side('What is right.', reference), candidate: side('What is compared with it.', candidate) };
  if (reference === 'captured')
    return { ...sides, reference: port('captured', 'What is right: inputs, and the outputs they gave.'), ...runner };
  if (reference === 'model') return { ...sides, ...OWN_DATA, ...runner };
  return {
    ...sides,
    recipe: port('recipe', 'How the host joins the parts.'),
    config: port('detector-config', "Thresholds, counts, mean and std; the recipe's own where absent.", { optional: true }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'The images.'),
    ...(part === undefined
      ? {}
      : { detector: recordPort('any', 'For a head: the detector that finds its RoIs.', { kind: 'onnx-model', optional: true }) }),
    ...runner,
  };
}

/** What models that stand for themselves are fed: one of these. */
const OWN_DATA: Ports = {
  captured: port('captured', 'Tensors that `capture` kept; their outputs are not used.', { optional: true }),
  data: recordPort({ annotations: 'annotations', images: 'images' }, 'Images in COCO layout.', { optional: true }),
  images: port('images', 'A folder of images.', { optional: true }),
  tensors: port('any', 'A .npz or .npy file, or a folder of these or of ONNX test data (input_0.pb).', { optional: true }),
};
