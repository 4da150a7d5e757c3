/** What does one network of a detector take? An image once, or as many RoIs as there are. */
import type { PartValues } from './part-values.js';

export type DetectorPart = ImagePart | RoiPart;

/** Fed once per image. */
export interface ImagePart {
  readonly name: string;
  readonly values: PartValues;
  readonly rois: 'none';
  readonly inputs: DimsByName;
}

/** Fed RoIs: every input and output counts them in its first axis, which the dims here leave out. */
export interface RoiPart {
  readonly name: string;
  readonly values: PartValues;
  readonly rois: RoiBatch;
  readonly inputs: DimsByName;
  readonly outputs: DimsByName;
}

export type DimsByName = Readonly<Record<string, readonly number[]>>;

/** 'free': any number of RoIs at once; else exactly so many, and the host pads and cuts. */
export type RoiBatch = 'free' | number;
