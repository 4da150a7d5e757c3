/** Params of `report`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';

export const REPORT_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 200, default: 'Tanren report', description: 'Heading of the page.' },
    order: {
      type: 'array',
      items: { type: 'string' },
      uniqueItems: true,
      default: ['float', 'split', 'simplify', 'rewritten', 'rewrite', 'int8', 'quantize', 'backbone', 'box_head', 'mask_head'],
      description: 'Names of entries in the order in which tables show them; others follow by name.',
    },
    tensors: {
      type: 'integer',
      minimum: 0,
      maximum: 100_000,
      default: 1000,
      description:
        'Number of values of each quantized model whose histograms the page holds: those with the largest loss. All, if its report is a source.',
    },
    overlays: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'What is compared in the view Results, and the images that are larger there.',
      properties: {
        images: {
          type: 'integer',
          minimum: 0,
          maximum: 100,
          default: 4,
          description: 'Number of larger images, besides those with changed objects; at most `views.images`.',
        },
        choose: {
          type: 'string',
          enum: ['differ', 'first'],
          default: 'differ',
          description: 'Order of the images. differ: those on which the first and the last side differ most come first. first: by id.',
        },
        minScore: {
          type: 'number',
          minimum: 0,
          maximum: 1,
          default: 0.5,
          description: 'Detections with a lower score are not in the view, and are not compared.',
        },
        changes: {
          type: 'integer',
          minimum: 0,
          maximum: 200,
          default: 12,
          description: 'Number of lost, found or changed objects with a row of pictures, the worst first.',
        },
        size: {
          type: 'integer',
          minimum: 64,
          maximum: 2048,
          default: 512,
          description: 'Longer side of the larger images, in pixels.',
        },
      },
    },
    views: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'The images of the view Results.',
      properties: {
        images: {
          type: 'integer',
          minimum: 0,
          maximum: 5000,
          default: 60,
          description: 'Number of images with pixels and masks, in the order of `overlays.choose`. Others are shown without them.',
        },
        size: { type: 'integer', minimum: 32, maximum: 2048, default: 256, description: 'Longer side of these images, in pixels.' },
      },
    },
  },
} as const;

export type ReportParams = FromSchema<typeof REPORT_PARAMS>;
