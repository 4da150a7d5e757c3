/** Params of `describe`: preprocessing, decoder, categories and selection of a single-network detector. */
import type { Json } from '../../src/base/json.js';
import type {
  BoxesDecoder,
  DetectionsDecoder,
  DistancesDecoder,
  GridDecoder,
  PriorsDecoder,
} from '../../src/detection/families/single/decoder/decoder.js';
import type { Preprocessing } from '../../src/detection/image/preprocessing.js';
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import type { ParamsSchema } from '../../src/stage/define-stage.js';
import { DECODER_SCHEMA } from './decoder-schema.js';

type Settings<T> = Omit<T, 'kind'>;

/** Exactly one of them. */
export interface DecoderParams {
  readonly grid?: Settings<GridDecoder>;
  readonly distances?: Settings<DistancesDecoder>;
  readonly priors?: PriorsParams;
  readonly boxes?: Settings<BoxesDecoder>;
  readonly detections?: Settings<DetectionsDecoder>;
  readonly module?: { readonly outputs?: readonly string[]; readonly options: Json };
}

/** A size may be one number, for a square. */
export interface PriorsParams extends Omit<Settings<PriorsDecoder>, 'levels'> {
  readonly levels: readonly { readonly columns: number; readonly rows: number; readonly sizes: readonly (number | readonly number[])[] }[];
}

export interface DescribeParams {
  readonly preprocess: Preprocessing;
  readonly decoder: DecoderParams;
  readonly categories: 'coco' | readonly CategoryParam[];
  readonly scoreThreshold: number;
  readonly labels: 'best' | 'all';
  readonly candidates: number;
  /** 0.5 where absent; 'none' with `detections`. */
  readonly nms?: number | 'none';
  readonly nmsClasses: 'each' | 'together';
  readonly perImage: number;
  readonly clip: 'image' | 'none';
}

/** A name without id has its position as id, counted from 1. */
export type CategoryParam = string | { readonly id: number; readonly name: string };

export const DESCRIBE_PARAMS: ParamsSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['decoder', 'categories'],
  properties: {
    preprocess: { ...PREPROCESSING_SCHEMA, default: {} },
    decoder: DECODER_SCHEMA,
    categories: {
      anyOf: [
        { const: 'coco' },
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
        "The network's classes in their order, without background, with the category ids of the data set: {id, name}, or names only, whose ids count from 1. coco: the 80 categories of COCO by ascending id.",
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
        'IoU above which the worse of two boxes is removed, or none. The default is 0.5, and none with the decoder `detections`.',
    },
    nmsClasses: {
      type: 'string',
      enum: ['each', 'together'],
      default: 'each',
      description: 'each: only boxes of the same class suppress each other.',
    },
    perImage: { type: 'integer', minimum: 1, default: 100, description: 'Maximum number of detections per image.' },
    clip: { type: 'string', enum: ['image', 'none'], default: 'image', description: 'Whether boxes are clipped to the image.' },
  },
};

/** Checks that the schema cannot express. */
export function checkDescribeParams({ decoder, categories }: DescribeParams): readonly string[] {
  const named = Object.keys(decoder);
  const { grid } = decoder;
  const ids = categories === 'coco' ? [] : categories.map((category, index) => (typeof category === 'string' ? index + 1 : category.id));
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  return [
    ...(named.length === 1 ? [] : [`decoder needs exactly one kind, it has ${named.length === 0 ? 'none' : named.join(', ')}`]),
    ...(grid !== undefined && (grid.boxes.form === 'exp' || grid.boxes.form === 'bounded') && grid.strides.length === 0
      ? [`decoder.grid.strides is required for boxes of the form ${grid.boxes.form}, which are relative to cells`]
      : []),
    ...(repeated === undefined ? [] : [`categories has the duplicate id ${repeated}`]),
  ];
}
