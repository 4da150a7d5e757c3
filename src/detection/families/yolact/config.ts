/** The detector config of YOLACT: the values that a checkpoint does not contain, such as color statistics, priors, thresholds and categories. */

import type { JsonProblem } from '../../../base/json/json-shape.js';
import type { Json } from '../../../base/json.js';
import { flag, integer, list, listOf, number, object, oneOf, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf, withChecks } from '../../../base/schema/schema-reader.js';
import { type ReadConfigFile, readConfigFile } from '../../detector/config-file.js';
import { YOLACT_DEFAULTS, type YolactDefaults } from './config-defaults.js';

const PROBABILITY = { minimum: 0, maximum: 1 } as const;
const POSITIVE = { exclusiveMinimum: 0 } as const;

const INPUT_SCHEMA = object({
  mean: listOf(3, number(), 'Per channel, R G B, of values in 0…255: (x − mean) / std.'),
  std: listOf(3, number(POSITIVE), 'Per channel, R G B, of values in 0…255: (x − mean) / std.'),
});

const PRIORS_SCHEMA = object({
  scales: list(list(number(POSITIVE)), 'Per pyramid level, finest first.'),
  aspectRatios: list(number(POSITIVE), 'The same for every level.'),
  usePixelScales: flag("Whether scales are pixels of the network's input; else cells of the level."),
  preapplySqrt: flag('Whether aspect ratios are given as their square roots.'),
  /** The published weights were trained with this bug of the original. */
  useSquareAnchors: flag('Whether every prior is square.'),
  variances: listOf(2, number(POSITIVE), 'Variance of the center and of the size.'),
});

const DETECTION_SCHEMA = object({
  /**
   * 'fast': per class, in one pass over the IoU matrix, where suppressed boxes also suppress others. 'fast-cross-class': the same over all boxes, each
   * with its best class only. 'traditional': greedy, per class, in pixels of the input.
   */
  nms: oneOf(['fast', 'fast-cross-class', 'traditional']),
  scoreThreshold: number(PROBABILITY, "The probability of a box's best class must exceed this."),
  nmsThreshold: number(PROBABILITY),
  topK: integer(1, 'Number of boxes per class (in total, with fast-cross-class) that a fast suppression considers.'),
  maxDetections: integer(1),
});

const MASK_SCHEMA = object({ threshold: number(PROBABILITY, 'Pixels above this probability belong to the mask.') });

const CATEGORY_SCHEMA = object({ id: integer(0, 'Id in the data set.'), name: text() });

export const YOLACT_CONFIG_SCHEMA = object({
  input: INPUT_SCHEMA,
  priors: PRIORS_SCHEMA,
  detection: DETECTION_SCHEMA,
  mask: MASK_SCHEMA,
  categories: list(CATEGORY_SCHEMA, "The network's classes from 1 on; class 0 is the background."),
});

export type YolactConfig = FromSchema<typeof YOLACT_CONFIG_SCHEMA>;
export type YolactInput = FromSchema<typeof INPUT_SCHEMA>;
export type PriorConfig = FromSchema<typeof PRIORS_SCHEMA>;
export type DetectionConfig = FromSchema<typeof DETECTION_SCHEMA>;
export type YolactMaskConfig = FromSchema<typeof MASK_SCHEMA>;
export type Category = FromSchema<typeof CATEGORY_SCHEMA>;

const yolactConfigReader = withChecks(readerOf(YOLACT_CONFIG_SCHEMA), findDuplicateIds);

/**
 * @param value    the file's JSON; undefined where there is no file and all values come from `defaults`.
 * @param defaults name of the defaults for missing values; undefined: the config must be complete.
 * @throws DetectionError `bad-config` with every missing, unknown and wrong field.
 */
export function parseYolactConfig(value: Json | undefined, defaults: YolactDefaults | undefined): ReadConfigFile<YolactConfig> {
  const filled = defaults === undefined ? undefined : YOLACT_DEFAULTS[defaults];
  return readConfigFile(
    value,
    yolactConfigReader,
    filled,
    'the param `defaults: yolact` fills missing fields with the values of the original',
  );
}

/** Number of classes, background included. */
export const countClasses = ({ categories }: Pick<YolactConfig, 'categories'>): number => categories.length + 1;

/** Number of priors per cell of a level. */
export const countPriors = ({ scales, aspectRatios }: PriorConfig, level: number): number =>
  (scales[level]?.length ?? 0) * aspectRatios.length;

/** Every category whose id an earlier one has. */
export function findDuplicateIds({ categories }: Pick<YolactConfig, 'categories'>): readonly JsonProblem[] {
  const ids = categories.map(({ id }) => id);
  return ids.flatMap((id, index) =>
    ids.indexOf(id) === index ? [] : [{ path: `categories[${index}].id`, message: `duplicate id ${id}` }],
  );
}
