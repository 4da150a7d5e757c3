/** Params of `capture`. */

import type { FitPolicy } from '../../src/detection/detector/detector-family.js';
import type { RoiCap } from '../../src/detection/detector/part-tensors.js';
import type { Preprocessing } from '../../src/detection/image/preprocessing.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';

export interface CaptureParams {
  readonly of: 'detector' | 'model';
  /** Number of samples; undefined: all. */
  readonly samples?: number;
  readonly rois: RoiCap;
  readonly fit?: FitPolicy;
  readonly preprocess?: Preprocessing;
  readonly optimization: SessionOptions['optimization'];
}
