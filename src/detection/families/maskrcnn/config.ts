/** The detector config of Mask R-CNN: the values that a checkpoint does not contain, such as sizes, anchors, thresholds and categories. */
import type { Json } from '../../../base/json.js';
import { fields, integer, type JsonReader, list, number, record, text } from '../../../base/json-shape.js';
import { type ReadConfigFile, readConfigFile } from '../../detector/config-file.js';
import { DEFAULTS, type DefaultsName } from './config-defaults.js';

/** The arguments of torchvision's `MaskRCNN`, with readable names. */
export interface DetectorConfig {
  readonly input: InputConfig;
  readonly anchors: AnchorConfig;
  readonly rpn: RpnConfig;
  readonly box: BoxConfig;
  readonly mask: MaskConfig;
  /** Background included. */
  readonly numClasses: number;
  /** Label (1 … numClasses − 1, as decimal text) → name. Labels without a name are predicted, but are not categories of the data set. */
  readonly categories: Readonly<Record<string, string>>;
}

export interface InputConfig {
  /** The shorter side after resizing, in pixels, unless the longer one would exceed `maxSize`. */
  readonly minSize: number;
  readonly maxSize: number;
  /** Per channel, R G B, of values in 0…1. */
  readonly mean: readonly number[];
  readonly std: readonly number[];
  /** Height and width of the network's input are multiples of this. */
  readonly sizeDivisible: number;
}

export interface AnchorConfig {
  /** Per pyramid level, finest first: side lengths in pixels of the square anchors. */
  readonly sizes: readonly (readonly number[])[];
  /** Height over width, the same for every level. */
  readonly aspectRatios: readonly number[];
}

export interface RpnConfig {
  /** Number of best anchors kept per level before non-maximum suppression, and of proposals kept per image after it. */
  readonly preNmsTopN: number;
  readonly postNmsTopN: number;
  readonly nmsThreshold: number;
  readonly scoreThreshold: number;
}

export interface BoxConfig {
  readonly scoreThreshold: number;
  readonly nmsThreshold: number;
  readonly detectionsPerImage: number;
  /** RoIAlign's output side, and sampling points per bin and axis. */
  readonly roiSize: number;
  readonly samplingRatio: number;
  /** Divisors of dx, dy, dw, dh. */
  readonly regressionWeights: readonly number[];
}

export interface MaskConfig {
  readonly roiSize: number;
  readonly samplingRatio: number;
  /** Pixels above this probability belong to the mask. */
  readonly threshold: number;
}

export type ReadConfig = ReadConfigFile<DetectorConfig>;

const probability = number({ min: 0, max: 1 });
const positive = number({ above: 0 });

/** Reader of complete configs, in config files and in host recipes. */
export const detectorConfigReader: JsonReader<DetectorConfig> = checked(
  fields<DetectorConfig>({
    input: fields<InputConfig>({
      minSize: integer(1),
      maxSize: integer(1),
      mean: list(number(), { length: 3 }),
      std: list(positive, { length: 3 }),
      sizeDivisible: integer(1),
    }),
    anchors: fields<AnchorConfig>({ sizes: list(list(positive)), aspectRatios: list(positive) }),
    rpn: fields<RpnConfig>({
      preNmsTopN: integer(1),
      postNmsTopN: integer(1),
      nmsThreshold: probability,
      scoreThreshold: probability,
    }),
    box: fields<BoxConfig>({
      scoreThreshold: probability,
      nmsThreshold: probability,
      detectionsPerImage: integer(1),
      roiSize: integer(1),
      samplingRatio: integer(1),
      regressionWeights: list(positive, { length: 4 }),
    }),
    mask: fields<MaskConfig>({ roiSize: integer(1), samplingRatio: integer(1), threshold: probability }),
    numClasses: integer(2),
    categories: record(text(), name => (/^[1-9]\d{0,8}$/.test(name) ? undefined : 'should be a label: an integer from 1')),
  }),
);

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

/** Adds checks that involve several fields. */
function checked(reader: JsonReader<DetectorConfig>): JsonReader<DetectorConfig> {
  return (value, path, problems) => {
    const before = problems.length;
    const config = reader(value, path, problems);
    if (config === undefined || problems.length > before) return config;
    const add = (field: string, message: string): number => problems.push({ path: path === '' ? field : `${path}.${field}`, message });
    const { minSize, maxSize } = config.input;
    if (maxSize < minSize) add('input.maxSize', `should be at least minSize (${minSize}), it is ${maxSize}`);
    for (const label of Object.keys(config.categories))
      if (Number(label) >= config.numClasses) add(`categories.${label}`, `should be a label below numClasses (${config.numClasses})`);
    return config;
  };
}
