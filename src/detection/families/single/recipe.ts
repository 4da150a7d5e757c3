/** The host recipe of a single-network detector: preprocessing, decoder, selection and categories. */
import { anyList, anyOf, constant, integer, list, mapOf, number, object, oneOf, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { OTHER_INPUTS_SCHEMA } from '../../data/image-inputs-schema.js';
import { RECIPE_FORMAT } from '../../detector/host-recipe.js';
import { PART_VALUES_SCHEMA } from '../../detector/part-values.js';
import { IMAGE_FORM_SCHEMA } from '../../image/image-form.js';
import { PREPROCESSING_SCHEMA } from '../../image/preprocessing-schema.js';
import { DECODER_SCHEMA } from './decoder/decoder.js';

const SIDE = anyOf([constant('free'), integer(1)], 'free: any size.');

const INPUT_SCHEMA = object(
  {
    value: text("The network's input of the image."),
    height: SIDE,
    width: SIDE,
    preprocess: PREPROCESSING_SCHEMA,
  },
  { form: IMAGE_FORM_SCHEMA, others: OTHER_INPUTS_SCHEMA },
  'form: the form of the input if it is not float32 [1, 3, height, width]. others: inputs besides the image.',
);

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

const ROWS_SCHEMA = mapOf(anyList(integer(1)), { description: 'By value name; without the first axis, which counts RoIs.' });

const INNER_SCHEMA = object(
  { name: text(), inputs: list(text(), 'Names of the input values.'), outputs: list(text(), 'Names of the output values.') },
  {
    rois: object(
      { inputs: ROWS_SCHEMA, outputs: ROWS_SCHEMA },
      {},
      'Dims of a part that runs on RoIs. Absent: the part runs once per image.',
    ),
  },
);

/** A part between the network and `rest`. */
export type InnerPart = FromSchema<typeof INNER_SCHEMA>;

const IMAGE_PARTS_SCHEMA = object(
  { model: PART_VALUES_SCHEMA },
  { prepare: PART_VALUES_SCHEMA, rest: PART_VALUES_SCHEMA },
  'prepare runs before the network, rest after everything: nodes of a whole detector that stay on the host.',
);

export const SINGLE_RECIPE_SCHEMA = object(
  {
    ...RECIPE_FORMAT,
    architecture: constant('single'),
    image: INPUT_SCHEMA,
    parts: IMAGE_PARTS_SCHEMA,
    decoder: DECODER_SCHEMA,
    selection: SELECTION_SCHEMA,
    categories: list(CATEGORY_SCHEMA, "In the order of the network's classes, without the background."),
  },
  { heads: list(INNER_SCHEMA, 'Parts between the network and `rest`, in the order in which they run: heads, and what runs before each.') },
);

/** The host preprocesses the image, runs the parts, decodes their outputs to boxes, selects detections, and maps them back to the image. */
export type SingleRecipe = FromSchema<typeof SINGLE_RECIPE_SCHEMA>;

export const singleRecipeReader = readerOf(SINGLE_RECIPE_SCHEMA);
