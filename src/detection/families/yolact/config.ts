/** What does a YOLACT need that its checkpoint cannot hold? Colours, priors, thresholds and categories, under the names of the original's configuration. */
import type { Json } from '../../../base/json.js';
import { fields, flag, integer, type JsonReader, list, literal, number, text } from '../../../base/json-shape.js';
import { type ReadConfigFile, readConfigFile } from '../../detector/config-file.js';
import { YOLACT_DEFAULTS, type YolactDefaults } from './config-defaults.js';

export interface YolactConfig {
  readonly input: YolactInput;
  readonly priors: PriorConfig;
  readonly detection: DetectionConfig;
  readonly mask: YolactMaskConfig;
  /** The network's classes from 1 on, in their order; class 0 is the background. */
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
  /** For every level. */
  readonly aspectRatios: readonly number[];
  /** Scales count pixels of the network's input; else cells of the level. */
  readonly usePixelScales: boolean;
  /** Aspect ratios are given as their roots. */
  readonly preapplySqrt: boolean;
  /** Every prior is as high as wide: what the published weights were trained with, by an oversight. */
  readonly useSquareAnchors: boolean;
  /** Of the centre and of the size. */
  readonly variances: readonly number[];
}

export interface DetectionConfig {
  /**
   * 'fast': per class, in one pass over the IoU matrix; a box that is itself suppressed still suppresses. 'fast-cross-class': the same, over each
   * box's best class. 'traditional': greedy, per class, in pixels of the input.
   */
  readonly nms: 'fast' | 'fast-cross-class' | 'traditional';
  /** Probability of its best class that a box must exceed. */
  readonly scoreThreshold: number;
  readonly nmsThreshold: number;
  /** Boxes per class (of all, with 'fast-cross-class') that a fast suppression looks at. */
  readonly topK: number;
  readonly maxDetections: number;
}

export interface YolactMaskConfig {
  /** Probability above which a pixel belongs to the mask. */
  readonly threshold: number;
}

export interface Category {
  /** The data set's. */
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
 * @param value    the file's JSON; undefined where no file is given and everything comes from `defaults`.
 * @param defaults the named set that fills what is missing; undefined: nothing may be missing.
 * @throws DetectionError `bad-config` with every missing, unknown and wrong field.
 */
export function parseYolactConfig(value: Json | undefined, defaults: YolactDefaults | undefined): ReadConfigFile<YolactConfig> {
  const filled = defaults === undefined ? undefined : YOLACT_DEFAULTS[defaults];
  return readConfigFile(value, yolactConfigReader, filled, 'the param `defaults: yolact` fills missing ones with those of the original');
}

/** The background included. */
export const countClasses = ({ categories }: Pick<YolactConfig, 'categories'>): number => categories.length + 1;

/** Priors in every cell of a level. */
export const countPriors = ({ scales, aspectRatios }: PriorConfig, level: number): number =>
  (scales[level]?.length ?? 0) * aspectRatios.length;

function withDistinctIds(reader: JsonReader<YolactConfig>): JsonReader<YolactConfig> {
  return (value, path, problems) => {
    const before = problems.length;
    const config = reader(value, path, problems);
    if (config === undefined || problems.length > before) return config;
    const seen = new Set<number>();
    for (const [index, { id }] of config.categories.entries()) {
      if (seen.has(id)) problems.push({ path: `${path === '' ? '' : `${path}.`}categories[${index}].id`, message: `${id} stands twice` });
      seen.add(id);
    }
    return config;
  };
}
