/** The host recipe of a single-network detector: preprocessing, decoder, selection and categories. */
import { anyOf, constant, integer, list, number, object, oneOf, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { RECIPE_FORMAT } from '../../detector/host-recipe.js';
import { PART_VALUES_SCHEMA } from '../../detector/part-values.js';
import { PREPROCESSING_SCHEMA } from '../../image/preprocessing-schema.js';
import { DECODER_SCHEMA } from './decoder/decoder.js';

const SIDE = anyOf([constant('free'), integer(1)], 'free: any size.');

const INPUT_SCHEMA = object({
  value: text("The network's input: float32 [1, 3, height, width]."),
  height: SIDE,
  width: SIDE,
  preprocess: PREPROCESSING_SCHEMA,
});

export type SingleInput = FromSchema<typeof INPUT_SCHEMA>;

const CATEGORY_SCHEMA = object({ id: integer(0, 'Id in the data set.'), name: text() });

export type Category = FromSchema<typeof CATEGORY_SCHEMA>;

const SUPPRESSION_SCHEMA = object({
  threshold: number({ minimum: 0, maximum: 1 }),
  classes: oneOf(['each', 'together'], 'each: only boxes of the same class suppress each other.'),
});

/** Greedy non-maximum suppression: removes boxes whose IoU with a better box is above `threshold`. */
export type Suppression = FromSchema<typeof SUPPRESSION_SCHEMA>;

const SELECTION_SCHEMA = object({
  scoreThreshold: number({}, 'Candidates must exceed this score.'),
  labels: oneOf(['best', 'all'], 'best: only the best class of each position. all: every class above the threshold.'),
  candidates: integer(1, 'Maximum number of candidates for suppression.'),
  nms: anyOf([constant('none'), SUPPRESSION_SCHEMA]),
  perImage: integer(1, 'Maximum number of detections.'),
  clip: oneOf(['image', 'none'], 'Whether boxes are clipped to the image.'),
});

/** Selection of detections among the candidates. The steps are applied in the order of the fields. */
export type Selection = FromSchema<typeof SELECTION_SCHEMA>;

export const SINGLE_RECIPE_SCHEMA = object({
  ...RECIPE_FORMAT,
  architecture: constant('single'),
  image: INPUT_SCHEMA,
  parts: object(
    { model: PART_VALUES_SCHEMA },
    { prepare: PART_VALUES_SCHEMA, rest: PART_VALUES_SCHEMA },
    'prepare runs before the network, rest after it: nodes of a whole detector that stay on the host.',
  ),
  decoder: DECODER_SCHEMA,
  selection: SELECTION_SCHEMA,
  categories: list(CATEGORY_SCHEMA, "In the order of the network's classes, without the background."),
});

/** The host preprocesses the image, runs the parts, decodes their outputs to boxes, selects detections, and maps them back to the image. */
export type SingleRecipe = FromSchema<typeof SINGLE_RECIPE_SCHEMA>;

export const singleRecipeReader = readerOf(SINGLE_RECIPE_SCHEMA);
