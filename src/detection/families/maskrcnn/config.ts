/** The detector config of Mask R-CNN: the values that a checkpoint does not contain, such as sizes, anchors, thresholds and categories. */

import type { JsonProblem } from '../../../base/json/json-shape.js';
import type { Json } from '../../../base/json.js';
import { integer, list, listOf, mapOf, matching, number, object, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf, withChecks } from '../../../base/schema/schema-reader.js';
import { type ReadConfigFile, readConfigFile } from '../../detector/config-file.js';
import { DEFAULTS, type DefaultsName } from './config-defaults.js';

const PROBABILITY = { minimum: 0, maximum: 1 } as const;
const POSITIVE = { exclusiveMinimum: 0 } as const;

const INPUT_SCHEMA = object({
  minSize: integer(1, 'The shorter side after resizing, in pixels, unless the longer one would exceed maxSize.'),
  maxSize: integer(1, 'Limit of the longer side after resizing, in pixels.'),
  mean: listOf(3, number(), 'Per channel, R G B, of values in 0…1.'),
  std: listOf(3, number(POSITIVE), 'Per channel, R G B, of values in 0…1.'),
  sizeDivisible: integer(1, "Height and width of the network's input are multiples of this."),
});

const ANCHORS_SCHEMA = object({
  sizes: list(list(number(POSITIVE)), 'Per pyramid level, finest first: side lengths in pixels of the square anchors.'),
  aspectRatios: list(number(POSITIVE), 'Height over width, the same for every level.'),
});

const RPN_SCHEMA = object({
  preNmsTopN: integer(1, 'Number of best anchors kept per level before non-maximum suppression.'),
  postNmsTopN: integer(1, 'Number of proposals kept per image after non-maximum suppression.'),
  nmsThreshold: number(PROBABILITY),
  scoreThreshold: number(PROBABILITY),
});

const BOX_SCHEMA = object({
  scoreThreshold: number(PROBABILITY),
  nmsThreshold: number(PROBABILITY),
  detectionsPerImage: integer(1),
  roiSize: integer(1, "RoIAlign's output side."),
  samplingRatio: integer(1, 'Sampling points per bin and axis.'),
  regressionWeights: listOf(4, number(POSITIVE), 'Divisors of dx, dy, dw, dh.'),
});

const MASK_SCHEMA = object({
  roiSize: integer(1, "RoIAlign's output side."),
  samplingRatio: integer(1, 'Sampling points per bin and axis.'),
  threshold: number(PROBABILITY, 'Pixels above this probability belong to the mask.'),
});

/** The arguments of torchvision's `MaskRCNN`, with readable names. */
export const DETECTOR_CONFIG_SCHEMA = object({
  input: INPUT_SCHEMA,
  anchors: ANCHORS_SCHEMA,
  rpn: RPN_SCHEMA,
  box: BOX_SCHEMA,
  mask: MASK_SCHEMA,
  numClasses: integer(2, 'Background included.'),
  categories: mapOf(text(), {
    names: matching(/^[1-9]\d{0,8}$/, 'a label: an integer from 1'),
    description: 'Label (1 … numClasses − 1) → name. Labels without a name are predicted, but are not categories of the data set.',
  }),
});

export type DetectorConfig = FromSchema<typeof DETECTOR_CONFIG_SCHEMA>;
export type InputConfig = FromSchema<typeof INPUT_SCHEMA>;
export type AnchorConfig = FromSchema<typeof ANCHORS_SCHEMA>;
export type RpnConfig = FromSchema<typeof RPN_SCHEMA>;
export type BoxConfig = FromSchema<typeof BOX_SCHEMA>;
export type MaskConfig = FromSchema<typeof MASK_SCHEMA>;

export type ReadConfig = ReadConfigFile<DetectorConfig>;

const detectorConfigReader = withChecks(readerOf(DETECTOR_CONFIG_SCHEMA), checkDetectorConfig);

/**
 * Parses a detector config.
 *
 * @param value    the file's JSON; undefined where there is no file and all values come from `defaults`.
 * @param defaults name of the defaults for missing values; undefined: the config must be complete.
 * @throws DetectionError `bad-config` with every missing, unknown and wrong field.
 */
export function parseDetectorConfig(value: Json | undefined, defaults: DefaultsName | undefined): ReadConfig {
  const filled = defaults === undefined ? undefined : DEFAULTS[defaults];
  return readConfigFile(
    value,
    detectorConfigReader,
    filled,
    'the param `defaults: torchvision` fills missing fields with the values of torchvision',
  );
}

/** Checks that involve several fields. */
export function checkDetectorConfig({ input, categories, numClasses }: DetectorConfig): readonly JsonProblem[] {
  const { minSize, maxSize } = input;
  const labels = Object.keys(categories).filter(label => Number(label) >= numClasses);
  return [
    ...(maxSize < minSize ? [{ path: 'input.maxSize', message: `should be at least minSize (${minSize}), it is ${maxSize}` }] : []),
    ...labels.map(label => ({ path: `categories.${label}`, message: `should be a label below numClasses (${numClasses})` })),
  ];
}
