/** What does a `calibrate` stage set? */
import type { Preprocessing } from '../../src/detection/image/preprocessing.js';
import type { OrtHistogramRequest } from '../../src/quant/ort-compat/ort-observed.js';

export interface CalibrateParams {
  /** Undefined: the part whose inputs the model has. */
  readonly part?: string;
  /** The first so many; undefined: all. */
  readonly samples?: number;
  readonly rois: { readonly max: number; readonly min: number };
  readonly preprocess?: Preprocessing;
  readonly perChannel: boolean;
  readonly compat: 'none' | 'ort';
  /** Collected where `compat` is 'ort'. */
  readonly ortHistograms: readonly OrtHistogramRequest[];
}
