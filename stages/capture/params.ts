/** What may be set on `capture`? */

import type { RoiCap } from '../../src/detection/part-tensors.js';
import type { Preprocessing } from '../../src/detection/preprocessing.js';
import type { FitPolicy } from '../../src/detection/torchvision/recipe.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';

export interface CaptureParams {
  readonly of: 'detector' | 'model';
  /** The first so many; undefined: all. */
  readonly samples?: number;
  readonly rois: RoiCap;
  readonly fit?: FitPolicy;
  readonly preprocess?: Preprocessing;
  readonly optimization: SessionOptions['optimization'];
}
