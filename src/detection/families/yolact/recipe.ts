/** The host recipe of YOLACT, and its reader. */
import { constant, integer, list, object, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf, withChecks } from '../../../base/schema/schema-reader.js';
import { RECIPE_FORMAT } from '../../detector/host-recipe.js';
import { PART_VALUES_SCHEMA } from '../../detector/part-values.js';
import { findDuplicateIds, YOLACT_CONFIG_SCHEMA } from './config.js';

const SIZE = { height: integer(1), width: integer(1) } as const;

const IMAGE_SCHEMA = object({
  /** float32 [1, 3, height, width], R G B, the whole image resized to it and normalized by the config's mean and std. */
  value: text('Input of the network.'),
  ...SIZE,
});

const LEVEL_SCHEMA = object({
  ...SIZE,
  boxes: text('Output [1, 4A, height, width], before permute.'),
  classes: text('Output [1, A · classes, height, width], before permute and softmax.'),
  coefficients: text('Output [1, A · k, height, width], before permute and tanh.'),
});

const PROTOTYPES_SCHEMA = object({
  value: text('Output [1, k, height, width], before ReLU.'),
  channels: integer(1, 'k: the number of prototypes, and of coefficients per box.'),
  ...SIZE,
});

export const YOLACT_RECIPE_SCHEMA = object({
  ...RECIPE_FORMAT,
  architecture: constant('yolact'),
  image: IMAGE_SCHEMA,
  parts: object({ network: PART_VALUES_SCHEMA }),
  levels: list(LEVEL_SCHEMA, 'Finest first.'),
  prototypes: PROTOTYPES_SCHEMA,
  config: YOLACT_CONFIG_SCHEMA,
});

/** dbolya/yolact. The host prepares the image, runs `network`, decodes and suppresses boxes, and assembles the masks. */
export type YolactRecipe = FromSchema<typeof YOLACT_RECIPE_SCHEMA>;
export type YolactImage = FromSchema<typeof IMAGE_SCHEMA>;
export type YolactLevel = FromSchema<typeof LEVEL_SCHEMA>;
export type YolactPrototypes = FromSchema<typeof PROTOTYPES_SCHEMA>;

export const yolactRecipeReader = withChecks(readerOf(YOLACT_RECIPE_SCHEMA), ({ config }) =>
  findDuplicateIds(config).map(({ path, message }) => ({ path: `config.${path}`, message })),
);
