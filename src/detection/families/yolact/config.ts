/** The detector config of YOLACT: the values that a checkpoint does not contain, such as color statistics, priors, thresholds and categories. */
import type { Json } from '../../../base/json.js';
import { fields, flag, integer, type JsonReader, list, literal, number, text } from '../../../base/json-shape.js';
import { type ReadConfigFile, readConfigFile } from '../../detector/config-file.js';
import { YOLACT_DEFAULTS, type YolactDefaults } from './config-defaults.js';

export interface YolactConfig {
  readonly input: YolactInput;
  readonly priors: PriorConfig;
  readonly detection: DetectionConfig;
  readonly mask: YolactMaskConfig;
  /** The network's classes from 1 on; class 0 is the background. */
  readonly categories: readonly Category[];
}

export interface YolactInput {
  /** Per channel, R G B, of values in 0…255: (x − mean) / std. */
  readonly mean: readonly number[];
  readonly std: readonly number[];
}

export interface PriorConfig {
  /** Per pyramid level, finest first. */
  readonly scales: readonly (readonly number[])[];
  /** The same for every level. */
  readonly aspectRatios: readonly number[];
  /** Whether scales are pixels of the network's input; else cells of the level. */
  readonly usePixelScales: boolean;
  /** Whether aspect ratios are given as their square roots. */
  readonly preapplySqrt: boolean;
  /** Whether every prior is square. The published weights were trained with this bug of the original. */
  readonly useSquareAnchors: boolean;
  /** Variance of the center and of the size. */
  readonly variances: readonly number[];
}

export interface DetectionConfig {
  /**
   * 'fast': per class, in one pass over the IoU matrix, where suppressed boxes also suppress others. 'fast-cross-class': the same over all boxes, each
   * with its best class only. 'traditional': greedy, per class, in pixels of the input.
   */
  readonly nms: 'fast' | 'fast-cross-class' | 'traditional';
  /** The probability of a box's best class must exceed this. */
  readonly scoreThreshold: number;
  readonly nmsThreshold: number;
  /** Number of boxes per class (in total, with 'fast-cross-class') that a fast suppression considers. */
  readonly topK: number;
  readonly maxDetections: number;
}

export interface YolactMaskConfig {
  /** Pixels above this probability belong to the mask. */
  readonly threshold: number;
}

export interface Category {
  /** Id in the data set. */
  readonly id: number;
  readonly name: string;
}

const positive = number({ above: 0 });
const probability = number({ min: 0, max: 1 });

export const yolactConfigReader: JsonReader<YolactConfig> = withDistinctIds(
  fields<YolactConfig>({
    input: fields<YolactInput>({ mean: list(number(), { length: 3 }), std: list(positive, { length: 3 }) }),
    priors: fields<PriorConfig>({
      scales: list(list(positive)),
      aspectRatios: list(positive),
      usePixelScales: flag(),
      preapplySqrt: flag(),
      useSquareAnchors: flag(),
      variances: list(positive, { length: 2 }),
    }),
    detection: fields<DetectionConfig>({
      nms: literal('fast', 'fast-cross-class', 'traditional'),
      scoreThreshold: probability,
      nmsThreshold: probability,
      topK: integer(1),
      maxDetections: integer(1),
    }),
    mask: fields<YolactMaskConfig>({ threshold: probability }),
    categories: list(fields<Category>({ id: integer(0), name: text() })),
  }),
);

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

function withDistinctIds(reader: JsonReader<YolactConfig>): JsonReader<YolactConfig> {
  return (value, path, problems) => {
    const before = problems.length;
    const config = reader(value, path, problems);
    if (config === undefined || problems.length > before) return config;
    const seen = new Set<number>();
    for (const [index, { id }] of config.categories.entries()) {
      if (seen.has(id)) problems.push({ path: `${path === '' ? '' : `${path}.`}categories[${index}].id`, message: `duplicate id ${id}` });
      seen.add(id);
    }
    return config;
  };
}
