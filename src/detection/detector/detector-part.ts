/** Parts of a detector: networks that take one image, or any number of RoIs. */
import { anyOf, constant, integer } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import type { PartValues } from './part-values.js';

export type DetectorPart = ImagePart | RoiPart;

/** Runs once per image. */
export interface ImagePart {
  readonly name: string;
  readonly values: PartValues;
  readonly rois: 'none';
  readonly inputs: DimsByName;
}

/** Runs on RoIs. The first axis of every input and output counts RoIs; the dims here omit it. */
export interface RoiPart {
  readonly name: string;
  readonly values: PartValues;
  readonly rois: RoiBatch;
  readonly inputs: DimsByName;
  readonly outputs: DimsByName;
}

export type DimsByName = Readonly<Record<string, readonly number[]>>;

export const ROI_BATCH_SCHEMA = anyOf(
  [constant('free'), integer(1)],
  'free: any number of RoIs per run. A number: a fixed batch, which the host pads.',
);

export type RoiBatch = FromSchema<typeof ROI_BATCH_SCHEMA>;

/** Whether `part` is the first of `parts`, whose input follows from the image alone. The inputs of others need the parts before them. */
export function isFirstPart({ name }: DetectorPart, parts: readonly DetectorPart[]): boolean {
  return parts[0]?.name === name;
}
