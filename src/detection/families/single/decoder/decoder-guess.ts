/** What forms of outputs tell about a decoder, and helpers of the forms. */
import type { ImageSize } from '../../../image/image-size.js';
import type { Decoder } from './decoder.js';

export interface OutputShape {
  readonly name: string;
  readonly dtype: string | undefined;
  /** A size that is not known is no number. Undefined: unknown rank. */
  readonly dims: readonly (number | string | undefined)[] | undefined;
}

export interface FoundDecoder {
  readonly decoder: Decoder;
  /** Number of classes; 'ids of coco' if it does not follow from the shapes, and the outputs are those of torchvision's detectors. */
  readonly classes: number | 'ids of coco';
  /** What is assumed about the outputs, as the end of a sentence. */
  readonly assumed: string;
  /** How images become the input of such networks, if not as of most detectors. */
  readonly images?: 'bgr-bytes';
}

export type Shape = { readonly name: string; readonly dims: readonly number[] };
export type Form = (outputs: readonly Shape[], input: ImageSize) => FoundDecoder | undefined;

/** Strides of most detectors. */
export const STRIDES = [8, 16, 32] as const;
/** Number of coordinates of a box. */
export const BOX = 4;

export const score = (channel: number, activation: 'none' | 'sigmoid' = 'none', power = 1) => ({ channel, power, activation }) as const;

/** As many as `listCells` lists. Infinite for a stride of 0, which is that of an output larger than the input. */
export const countCells = ({ height, width }: ImageSize, strides: readonly number[]): number =>
  strides.reduce((sum, stride) => sum + Math.ceil(height / stride) * Math.ceil(width / stride), 0);
