/** The host recipe of YOLACT, and its reader. */
import { fields, integer, type JsonReader, list, literal, text } from '../../../base/json-shape.js';
import type { HostRecipe } from '../../detector/host-recipe.js';
import { type PartValues, partValuesReader } from '../../detector/part-values.js';
import { type YolactConfig, yolactConfigReader } from './config.js';

/** dbolya/yolact. The host prepares the image, runs `network`, decodes and suppresses boxes, and assembles the masks. */
export interface YolactRecipe extends HostRecipe {
  readonly architecture: 'yolact';
  readonly image: YolactImage;
  readonly parts: { readonly network: PartValues };
  /** Finest first. */
  readonly levels: readonly YolactLevel[];
  readonly prototypes: YolactPrototypes;
  /** The config used by `export`, with defaults filled in. */
  readonly config: YolactConfig;
}

export interface YolactImage {
  /** Input of the network: float32 [1, 3, height, width], R G B, the whole image resized to it and normalized by the config's mean and std. */
  readonly value: string;
  readonly height: number;
  readonly width: number;
}

export interface YolactLevel {
  readonly height: number;
  readonly width: number;
  /** Output [1, 4A, height, width], before permute. */
  readonly boxes: string;
  /** Output [1, A · classes, height, width], before permute and softmax. */
  readonly classes: string;
  /** Output [1, A · k, height, width], before permute and tanh. */
  readonly coefficients: string;
}

export interface YolactPrototypes {
  /** Output [1, k, height, width], before ReLU. */
  readonly value: string;
  /** k: the number of prototypes, and of coefficients per box. */
  readonly channels: number;
  readonly height: number;
  readonly width: number;
}

const size = { height: integer(1), width: integer(1) } as const;

export const yolactRecipeReader: JsonReader<YolactRecipe> = fields<YolactRecipe>({
  format: literal('tanren-recipe'),
  version: literal(1),
  architecture: literal('yolact'),
  image: fields<YolactImage>({ value: text(), ...size }),
  parts: fields<YolactRecipe['parts']>({ network: partValuesReader }),
  levels: list(fields<YolactLevel>({ ...size, boxes: text(), classes: text(), coefficients: text() })),
  prototypes: fields<YolactPrototypes>({ value: text(), channels: integer(1), ...size }),
  config: yolactConfigReader,
});
