/** Params of `widen-types`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { FIT_SCHEMA } from '../../src/detection/detector/fit-schema.js';
import { QUANTIZE_PARAMS } from '../../src/quant/settings/quantize-params.js';
import { OPTIMIZATION_SCHEMA } from '../../src/runtime/session/session-params.js';

const DECIBELS = { type: 'number' } as const;
const SHARE = { type: 'number', exclusiveMinimum: 0, maximum: 1 } as const;

export const WIDEN_TYPES_PARAMS = {
  type: 'object',
  additionalProperties: false,
  required: ['constraint'],
  properties: {
    quantize: {
      ...QUANTIZE_PARAMS,
      default: {},
      description: 'The params of the stage `quantize` that reads the result.',
    },
    constraint: {
      type: 'object',
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
      properties: {
        sqnrDb: {
          anyOf: [DECIBELS, { type: 'object', minProperties: 1, additionalProperties: DECIBELS }],
          description:
            'The SQNR in dB that every output reaches on the captured samples; or by output, and `default` for the others, which are free without it.',
        },
        gate: {
          type: 'object',
          minProperties: 1,
          propertyNames: {
            pattern: '^(delta\\.)?(bbox|segm)\\.(AP(50|75|small|medium|large)?|AR(1|10|100|small|medium|large))$',
            title: 'a COCO figure, such as bbox.AP, segm.AP50 or delta.bbox.AP',
          },
          additionalProperties: {
            type: 'string',
            pattern: '^\\s*(>=|<=|==|>|<)\\s*[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?\\s*$',
            title: 'an operator and a number, such as ">= 0.5"',
          },
          description: 'Bounds on COCO figures of `data`, as a gate of `evaluate` states them; delta: against `baseline`.',
        },
        share: {
          anyOf: [SHARE, { type: 'object', additionalProperties: false, minProperties: 1, properties: { cost: SHARE, tensors: SHARE } }],
          description:
            'The largest share of the `cost` that may be wider, or of the cost and of the number of tensors; within it, the set with the least error.',
        },
      },
      description: 'What the model must meet: one of `sqnrDb`, `gate` and `share`.',
    },
    judge: {
      type: 'string',
      enum: ['outputs', 'detections'],
      default: 'outputs',
      description:
        'What `constraint.share` keeps low. outputs: the errors of the outputs on captured samples. detections: the distance of the boxes and scores from those of the float model on `data`.',
    },
    biases: {
      type: 'string',
      enum: ['kept', 'corrected'],
      default: 'kept',
      description:
        'What every trial judges. kept: the model as `quantize` writes it. corrected: the same after `correct-biases` on the captured samples, for pipelines that have this stage. It takes several times as long.',
    },
    to: {
      type: 'string',
      enum: ['int16', 'float'],
      default: 'int16',
      description: 'The wider type. float: the nodes that touch a wider tensor run in float, on the CPU.',
    },
    cost: {
      type: 'string',
      enum: ['bytes', 'macs'],
      description:
        'What is kept low. bytes: of wider activations. macs: multiply-accumulates of the nodes that touch them, and one per output element. Default: bytes for int16, macs for float.',
    },
    tensors: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description: 'Only these tensors may become wider, by name; `*` matches any characters. Default: all.',
    },
    part: {
      type: 'string',
      minLength: 1,
      description: 'The part of the detector that the model is; default: found by its input names, or the one that `parts` lacks.',
    },
    samples: { type: 'integer', minimum: 1, description: 'Number of captured samples, the first ones; default: all.' },
    images: { type: 'integer', minimum: 1, description: 'Number of images of `data`, the first ones by id; default: all.' },
    optimization: OPTIMIZATION_SCHEMA,
    fit: FIT_SCHEMA,
    target: {
      type: 'string',
      minLength: 1,
      description: 'The target that must admit the wider type: ryzen-ai, generic-int8, or the name of the profile that is connected.',
    },
    device: { type: 'string', minLength: 1, description: "One of the profile's devices; default: that of the profile." },
    dtype: { type: 'string', minLength: 1, description: "One of the profile's data types; default: that of the profile." },
    software: { type: 'string', minLength: 1, description: "Version of the vendor's software; default: that of the profile." },
  },
} as const;

export type WidenTypesParams = FromSchema<typeof WIDEN_TYPES_PARAMS>;
