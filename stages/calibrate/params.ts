/** What does a `calibrate` stage set? */

export interface CalibrateParams {
  /** Undefined: the part of the recipe whose inputs the model has. */
  readonly part?: string;
  /** The first so many images by id; undefined: all. */
  readonly samples?: number;
  readonly rois: { readonly max: number; readonly min: number };
}
