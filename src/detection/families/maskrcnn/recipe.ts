/** The host recipe of torchvision's Mask R-CNN, and its reader. */
import type { Json } from '../../../base/json.js';
import { either, fields, integer, type JsonReader, list, literal, text } from '../../../base/json-shape.js';
import type { FitPolicy } from '../../detector/detector-family.js';
import type { RoiBatch } from '../../detector/detector-part.js';
import type { HostRecipe } from '../../detector/host-recipe.js';
import { type PartValues, partValuesReader } from '../../detector/part-values.js';
import { type DetectorConfig, detectorConfigReader } from './config.js';
import type { MaskRcnnPart } from './part-names.js';

/**
 * torchvision's Mask R-CNN. The host prepares the image, runs `backbone`, computes proposals, pools RoIs, runs `box_head`, selects detections, pools
 * their RoIs, runs `mask_head`, and pastes the masks.
 */
export interface MaskRcnnRecipe extends HostRecipe {
  readonly architecture: 'maskrcnn';
  readonly image: ImageInput;
  readonly parts: Readonly<Record<MaskRcnnPart, PartValues>>;
  /** Finest first. The last level has no feature output; it only provides proposals. */
  readonly levels: readonly PyramidLevel[];
  readonly roi: RoiAssignment;
  readonly boxHead: RoiHead & { readonly classLogits: string; readonly boxRegression: string };
  readonly maskHead: RoiHead & { readonly maskLogits: string };
  /** The config used by `export`, with defaults filled in. A config that is connected to a later stage replaces it. */
  readonly config: DetectorConfig;
}

export interface ImageInput {
  /** Input of the backbone: float32 [1, 3, height, width], R G B, normalized by the config's mean and std, padded with zeros on the right and at the bottom. */
  readonly value: string;
  readonly height: number;
  readonly width: number;
  readonly size: InputSize;
  /** Default policy for images of other sizes. */
  readonly fit: FitPolicy;
}

/** 'fixed': the backbone takes this height and width only. 'free': it takes any multiples of 32, and height and width apply to the fit policy `static`. */
export type InputSize = 'fixed' | 'free';

export interface PyramidLevel {
  /** Nominal pixels per cell; RoIAlign's scale is 1 / stride. Anchors use floor(input / level size), which can differ on the last level. */
  readonly stride: number;
  /** Size of the level's maps at the recipe's input size. */
  readonly height: number;
  readonly width: number;
  /** Output [1, C, height, width] that RoIs are pooled from; 'none' where the level only provides proposals. */
  readonly feature: string | 'none';
  /** Outputs [1, A, height, width] and [1, 4A, height, width]: before permute, reshape and sigmoid. */
  readonly objectness: string;
  readonly deltas: string;
}

/**
 * Assigns an RoI to level k = floor(canonicalLevel + log2(sqrt(area) / canonicalScale) + 1e-6), clipped to the levels with a feature. The level of the
 * finest is log2 of its stride. (Lin et al., Feature Pyramid Networks, equation 1, as computed by torchvision's LevelMapper.)
 */
export interface RoiAssignment {
  readonly canonicalScale: number;
  readonly canonicalLevel: number;
}

export interface RoiHead {
  /** The part's input: float32 [batch, channels, size, size]. */
  readonly input: string;
  readonly channels: number;
  readonly size: number;
  readonly samplingRatio: number;
  readonly batch: RoiBatch;
}

const isText = (value: Json | undefined): value is string => typeof value === 'string';
const roiBatch: JsonReader<RoiBatch> = either(isText, literal('free'), integer(1));

export const roiHeadReaders = {
  input: text(),
  channels: integer(1),
  size: integer(1),
  samplingRatio: integer(1),
  batch: roiBatch,
} as const;

/** Readers of the fields that the recipes of Mask R-CNN and its extensions share. */
export const networkReaders = {
  format: literal('tanren-recipe'),
  version: literal(1),
  image: fields<ImageInput>({
    value: text(),
    height: integer(1),
    width: integer(1),
    size: literal('fixed', 'free'),
    fit: literal('static', 'torchvision'),
  }),
  levels: list(
    fields<PyramidLevel>({
      stride: integer(1),
      height: integer(1),
      width: integer(1),
      feature: text(),
      objectness: text(),
      deltas: text(),
    }),
  ),
  roi: fields<RoiAssignment>({ canonicalScale: integer(1), canonicalLevel: integer(0) }),
  boxHead: fields<MaskRcnnRecipe['boxHead']>({ ...roiHeadReaders, classLogits: text(), boxRegression: text() }),
  maskHead: fields<MaskRcnnRecipe['maskHead']>({ ...roiHeadReaders, maskLogits: text() }),
  config: detectorConfigReader,
} as const;

export const networkPartReaders = { backbone: partValuesReader, box_head: partValuesReader, mask_head: partValuesReader } as const;

export const maskRcnnRecipeReader: JsonReader<MaskRcnnRecipe> = fields<MaskRcnnRecipe>({
  ...networkReaders,
  architecture: literal('maskrcnn'),
  parts: fields<MaskRcnnRecipe['parts']>(networkPartReaders),
});
