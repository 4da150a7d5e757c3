/** Params of `tile-rois`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';

export const TILE_ROIS_PARAMS = {
  type: 'object',
  additionalProperties: false,
  required: ['heads'],
  properties: {
    heads: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_-]*$' },
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          form: {
            type: 'string',
            enum: ['auto', 'direct', 'strided', 'cut'],
            default: 'auto',
            description:
              'What a Gemm on whole tiles becomes. direct: one Conv, whose stride is the pitch. strided: a Conv with a stride of 1, 2 or 4 that divides the pitch, then a Slice. cut: the head is cut at its Flatten into two models, HEAD_tiles and HEAD_tiles_fc; the host lays the rows out again between them. auto (the default): direct or strided, by legality and estimate.',
          },
          grid: {
            type: 'array',
            items: { type: 'integer', minimum: 1 },
            minItems: 2,
            maxItems: 2,
            description: 'Rows of tiles, and tiles in a row. Default: the fastest estimate for the RoI counts in `captured`.',
          },
        },
      },
      description: 'Head → how it runs on tiles.',
    },
    mask: {
      type: 'string',
      enum: ['full', 'broadcast', 'input'],
      default: 'full',
      description:
        "How the positions between tiles are cleared. full: a Mul with a constant of the value's size. broadcast: a constant with one channel, which no board has shown to work. input: an input that the host fills.",
    },
    maxTiles: { type: 'integer', minimum: 1, default: 25, description: 'Most tiles of a grid that is chosen.' },
    target: { type: 'string', minLength: 1, description: 'ryzen-ai, generic-int8, or the name of the profile that is connected.' },
    device: { type: 'string', minLength: 1, description: "One of the profile's devices; default: that of the profile." },
    dtype: { type: 'string', minLength: 1, description: "One of the profile's data types; default: that of the profile." },
    software: { type: 'string', minLength: 1, description: "Version of the vendor's software; default: that of the profile." },
  },
} as const;

export type TileRoisParams = FromSchema<typeof TILE_ROIS_PARAMS>;

export type HeadParams = TileRoisParams['heads'][string];

/** Name of the model that replaces a head. */
export const nameOfTiles = (head: string): string => `${head}_tiles`;

/** Name of the second model of a head that is cut. */
export const nameOfRows = (head: string): string => `${head}_tiles_fc`;

/** The models that the stage writes. */
export function listModels({ heads }: TileRoisParams): readonly string[] {
  return Object.entries(heads).flatMap(([head, { form }]) =>
    form === 'cut' ? [nameOfTiles(head), nameOfRows(head)] : [nameOfTiles(head)],
  );
}
