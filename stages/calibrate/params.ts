/** The params of `calibrate`. */
import type { Preprocessing } from '../../src/detection/image/preprocessing.js';
import type { OrtHistogramRequest } from '../../src/quant/ort-compat/ort-observed.js';

export interface CalibrateParams {
  /** Undefined: the part whose inputs the model has. */
  readonly part?: string;
  /** Number of samples, the first ones; undefined: all. */
  readonly samples?: number;
  readonly rois: { readonly max: number; readonly min: number };
  readonly preprocess?: Preprocessing;
  readonly perChannel: boolean;
  readonly compat: 'none' | 'ort';
  /** Collected with `compat: ort`. */
  readonly ortHistograms: readonly OrtHistogramRequest[];
}
