/** Params of `describe`: preprocessing, decoder, categories and selection of a single-network detector. */

import { object } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { DECODER_FORMS } from '../../src/detection/families/single/decoder/decoder-forms.js';
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';

export const DESCRIBE_PARAMS = {
  type: 'object',
  additionalProperties: false,
  required: ['decoder', 'categories'],
  properties: {
    preprocess: { ...PREPROCESSING_SCHEMA, default: {} },
    decoder: {
      type: 'object',
      additionalProperties: false,
      description: 'How boxes, scores and classes are read from the outputs. Exactly one key.',
      properties: {
        ...DECODER_FORMS,
        found: object({}, {}, 'The form that the shapes of the outputs suggest. The log tells what is assumed.'),
      },
    },
    categories: {
      anyOf: [
        { enum: ['coco', 'coco-ids'] },
        {
          type: 'array',
          minItems: 1,
          items: {
            anyOf: [
              { type: 'string', minLength: 1 },
              {
                type: 'object',
                additionalProperties: false,
                required: ['id', 'name'],
                properties: { id: { type: 'integer', minimum: 0 }, name: { type: 'string', minLength: 1 } },
              },
            ],
          },
        },
      ],
      description:
        "The network's classes in their order, without background, with the category ids of the data set: {id, name}, or names only, whose ids count from 1. coco: the 80 categories of COCO by ascending id. coco-ids: class numbers are the ids of COCO, 1 to 90, as torchvision's detectors give them.",
    },
    scoreThreshold: { type: 'number', default: 0.05, description: 'Candidates must exceed this score.' },
    labels: {
      type: 'string',
      enum: ['best', 'all'],
      default: 'best',
      description: 'best: only the best class of each position. all: every class above the threshold.',
    },
    candidates: { type: 'integer', minimum: 1, default: 5000, description: 'Maximum number of candidates for non-maximum suppression.' },
    nms: {
      anyOf: [{ const: 'none' }, { type: 'number', minimum: 0, maximum: 1 }],
      description:
        'IoU above which the worse of two boxes is removed, or none. The default is 0.5, and none with the decoders `detections` and `selected`.',
    },
    nmsClasses: {
      type: 'string',
      enum: ['each', 'together'],
      default: 'each',
      description: 'each: only boxes of the same class suppress each other. together: all boxes do.',
    },
    perImage: { type: 'integer', minimum: 1, default: 100, description: 'Maximum number of detections per image.' },
    clip: {
      type: 'string',
      enum: ['image', 'none'],
      default: 'image',
      description: 'Whether boxes are clipped to the image. none: they are not.',
    },
  },
} as const;

export type DescribeParams = FromSchema<typeof DESCRIBE_PARAMS>;

/** Exactly one of them. */
export type DecoderParams = DescribeParams['decoder'];

/** A name without id has its position as id, counted from 1. */
export type CategoryParam = Exclude<DescribeParams['categories'], string>[number];

/** Checks that the schema cannot express. */
export function checkDescribeParams({ decoder, categories }: DescribeParams): readonly string[] {
  const named = Object.keys(decoder);
  const { grid } = decoder;
  const ids =
    typeof categories === 'string' ? [] : categories.map((category, index) => (typeof category === 'string' ? index + 1 : category.id));
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  return [
    ...(named.length === 1 ? [] : [`decoder needs exactly one kind, it has ${named.length === 0 ? 'none' : named.join(', ')}`]),
    ...(grid !== undefined && (grid.boxes.form === 'exp' || grid.boxes.form === 'bounded') && grid.strides.length === 0
      ? [`decoder.grid.strides is required for boxes of the form ${grid.boxes.form}, which are relative to cells`]
      : []),
    ...(repeated === undefined ? [] : [`categories has the duplicate id ${repeated}`]),
  ];
}
