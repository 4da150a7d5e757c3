/** What does `verify` take and give? Two forms of one detector, or of one of its parts; how far they are from each other, and whether that is near enough. */
import { checkRunnerParams, determinismOf, RUNNER_SCHEMA, runnerDevice, runnerTools } from '../../src/runtime/runner-params.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { type Port, type Ports, port, recordPort } from '../../src/stage/ports.js';
import { runnerPorts } from '../../src/stage/runner-port.js';
import type { SideForm, VerifyParams } from './params.js';

const PARTS = { backbone: 'onnx-model', box_head: 'onnx-model', mask_head: 'onnx-model' } as const;

const bound = (description: string, range: { minimum?: number; maximum?: number } = {}) => ({
  anyOf: [
    { type: 'number', ...range },
    { type: 'object', additionalProperties: { type: 'number', ...range }, minProperties: 1 },
  ],
  description,
});

const share = (description: string) => ({ type: 'number', minimum: 0, maximum: 1, description });

const form = (side: string) => ({
  type: 'string',
  enum: ['parts', 'whole'],
  default: 'parts',
  description: `How the ${side} is given: parts, a record of three models; whole, one model with all of their inputs and outputs. With \`part\`, always one model.`,
});

export const verify = defineStage<VerifyParams>({
  name: 'verify',
  version: 1,
  description: 'Compares two forms of a detector on chosen images: every output of every part, and the detections.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      part: {
        type: 'string',
        enum: ['backbone', 'box_head', 'mask_head'],
        description: 'Compare this part alone: both sides are its model.',
      },
      reference: form('reference'),
      candidate: form('candidate'),
      ...RUNNER_SCHEMA,
      samples: { type: 'integer', minimum: 1, default: 4, description: 'Compare on the first so many images by id.' },
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
      matchIou: { ...share('Detections of one class are partners from this box IoU on.'), default: 0.5 },
      minScore: { ...share('Detections below this score are neither missed nor extra; pairs of two such do not count.'), default: 0 },
      thresholds: {
        type: 'object',
        additionalProperties: false,
        default: {},
        description:
          'Bounds; one that is missed fails the stage. Those of values: a number, or an object of value names, `default` for the others.',
        properties: {
          minSqnrDb: bound('Least SQNR in dB of a value. Equal values have 999.'),
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
    report: port('report', 'Per value: max-abs, cosine, SQNR. Detections: missed, extra, differences of the matched.'),
    metrics: port('metrics', 'The numbers of the report, for gates.'),
  },
  determinism: determinismOf,
  tools: runnerTools,
  device: runnerDevice,
  runsModels: 'always',
  checkParams: params => {
    const { part, reference, candidate, thresholds } = params;
    const { maxMissed, maxExtra, maxScoreDifference, minBoxIou, minMaskIou } = thresholds;
    const onDetections = [maxMissed, maxExtra, maxScoreDifference, minBoxIou, minMaskIou].some(one => one !== undefined);
    return [
      ...checkRunnerParams(params),
      ...(part !== undefined && (reference === 'whole' || candidate === 'whole')
        ? ['with `part`, both sides are the model of that part: leave `reference` and `candidate` out']
        : []),
      ...(part !== undefined && onDetections ? ['thresholds on detections need the whole detector: leave `part` out'] : []),
    ];
  },
  run: async job => (await import('./run.js')).runVerify(job),
});

function portsOf(params: VerifyParams): Ports {
  const { part, reference, candidate } = params;
  const side = (text: string, given: SideForm): Port =>
    part !== undefined || given === 'whole' ? port('onnx-model', text) : recordPort(PARTS, text);
  return {
    reference: side('What is right.', reference),
    candidate: side('What is compared with it.', candidate),
    recipe: port('recipe', 'How the host joins the parts.'),
    config: port('detector-config', "Thresholds, counts, mean and std; the recipe's own where absent.", { optional: true }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'The images.'),
    ...(part === 'box_head' || part === 'mask_head'
      ? { detector: recordPort(PARTS, 'The detector that finds the RoIs for the head.') }
      : {}),
    ...runnerPorts(params),
  };
}
