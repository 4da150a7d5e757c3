/** How does the host join the parts of torchvision's Mask R-CNN? Its member of the recipes. */
import type { Json } from '../../../base/json.js';
import { either, fields, integer, type JsonReader, list, literal, text } from '../../../base/json-shape.js';
import type { FitPolicy } from '../../detector/detector-family.js';
import type { RoiBatch } from '../../detector/detector-part.js';
import type { HostRecipe } from '../../detector/host-recipe.js';
import { type PartValues, partValuesReader } from '../../detector/part-values.js';
import { type DetectorConfig, detectorConfigReader } from './config.js';
import type { MaskRcnnPart } from './part-names.js';

/**
 * torchvision's Mask R-CNN. The host prepares the image, runs `backbone`, makes anchors and proposals, pools RoIs, runs `box_head`, selects
 * detections, pools again, runs `mask_head`, and pastes the masks.
 */
export interface MaskRcnnRecipe extends HostRecipe {
  readonly architecture: 'maskrcnn';
  readonly image: ImageInput;
  readonly parts: Readonly<Record<MaskRcnnPart, PartValues>>;
  /** Finest first. The last level has no feature output: only proposals come from it. */
  readonly levels: readonly PyramidLevel[];
  readonly roi: RoiAssignment;
  readonly boxHead: RoiHead & { readonly classLogits: string; readonly boxRegression: string };
  readonly maskHead: RoiHead & { readonly maskLogits: string };
  /** The config that `export` was given, defaults filled in. `evaluate` takes its thresholds from its own config input. */
  readonly config: DetectorConfig;
}

export interface ImageInput {
  /** Input of the backbone: float32 [1, 3, height, width], R G B, normalised by the config's mean and std, padded with zeros right and below. */
  readonly value: string;
  readonly height: number;
  readonly width: number;
  readonly size: InputSize;
  /** How an image of another size is fitted where nobody says otherwise. */
  readonly fit: FitPolicy;
}

/** 'fixed': height and width are what the backbone takes. 'free': it takes any multiples of 32; height and width are those of the fit policy `static`. */
export type InputSize = 'fixed' | 'free';

export interface PyramidLevel {
  /** Nominal pixels per cell: RoIAlign's scale is 1 / stride. Anchors use floor(input / level size) instead, which may differ on the last level. */
  readonly stride: number;
  /** Size of the level's maps at the recipe's input size. */
  readonly height: number;
  readonly width: number;
  /** Output [1, C, height, width] that RoIs are pooled from; 'none' where only proposals come from the level. */
  readonly feature: string | 'none';
  /** Outputs [1, A, height, width] and [1, 4A, height, width]: before permute, reshape and sigmoid. */
  readonly objectness: string;
  readonly deltas: string;
}

/**
 * Which level a RoI is pooled from: k = floor(canonicalLevel + log2(sqrt(area) / canonicalScale) + 1e-6), clipped to the levels with a feature,
 * of which the finest is log2 of its stride. (Lin et al., Feature Pyramid Networks, equation 1, as torchvision's LevelMapper computes it.)
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

/** Readers of what the recipes of Mask R-CNN and its extensions have in common. */
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
