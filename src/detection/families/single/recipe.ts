/** The host recipe of a single-network detector: preprocessing, decoder, selection and categories. */
import type { Json } from '../../../base/json.js';
import { either, fields, integer, type JsonReader, list, literal, number, text } from '../../../base/json-shape.js';
import type { HostRecipe } from '../../detector/host-recipe.js';
import { type PartValues, partValuesReader } from '../../detector/part-values.js';
import type { Preprocessing } from '../../image/preprocessing.js';
import { preprocessingReader } from '../../image/preprocessing-reader.js';
import type { Decoder } from './decoder/decoder.js';
import { decoderReader } from './decoder/decoder-reader.js';

/** The host preprocesses the image, runs `model`, decodes its outputs to boxes, selects detections, and maps them back to the image. */
export interface SingleRecipe extends HostRecipe {
  readonly architecture: 'single';
  readonly image: SingleInput;
  readonly parts: { readonly model: PartValues };
  readonly decoder: Decoder;
  readonly selection: Selection;
  /** In the order of the network's classes, without the background. */
  readonly categories: readonly Category[];
}

export interface SingleInput {
  /** The network's input: float32 [1, 3, height, width]. */
  readonly value: string;
  /** 'free': any size. */
  readonly height: number | 'free';
  readonly width: number | 'free';
  readonly preprocess: Preprocessing;
}

export interface Category {
  /** Id in the data set. */
  readonly id: number;
  readonly name: string;
}

/** Selection of detections among the candidates. The steps are applied in the order of the fields. */
export interface Selection {
  /** Candidates must exceed this score. */
  readonly scoreThreshold: number;
  /** 'best': only the best class of each position. 'all': every class above the threshold. */
  readonly labels: 'best' | 'all';
  /** Maximum number of candidates for suppression. */
  readonly candidates: number;
  readonly nms: Suppression | 'none';
  /** Maximum number of detections. */
  readonly perImage: number;
  /** Whether boxes are clipped to the image. */
  readonly clip: 'image' | 'none';
}

/** Greedy non-maximum suppression: removes boxes whose IoU with a better box is above `threshold`. */
export interface Suppression {
  readonly threshold: number;
  /** 'each': only boxes of the same class suppress each other. */
  readonly classes: 'each' | 'together';
}

const isText = (value: Json | undefined): value is string => typeof value === 'string';
const side = either(isText, literal('free'), integer(1));

const suppression = fields<Suppression>({ threshold: number({ min: 0, max: 1 }), classes: literal('each', 'together') });

const selection = fields<Selection>({
  scoreThreshold: number({}),
  labels: literal('best', 'all'),
  candidates: integer(1),
  nms: either(isText, literal('none'), suppression),
  perImage: integer(1),
  clip: literal('image', 'none'),
});

export const singleRecipeReader: JsonReader<SingleRecipe> = fields<SingleRecipe>({
  format: literal('tanren-recipe'),
  version: literal(1),
  architecture: literal('single'),
  image: fields<SingleInput>({ value: text(), height: side, width: side, preprocess: preprocessingReader }),
  parts: fields<SingleRecipe['parts']>({ model: partValuesReader }),
  decoder: decoderReader,
  selection,
  categories: list(fields<Category>({ id: integer(0), name: text() })),
});
