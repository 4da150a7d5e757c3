/** Params of `evaluate`. */
import type { FitPolicy } from '../../src/detection/detector/detector-family.js';
import type { RunnerParams } from '../../src/runtime/device/runner-params.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';

export type IouType = 'bbox' | 'segm';

export interface EvaluateParams extends RunnerParams {
  /** Number of images, the first by id; all where absent. */
  readonly samples?: number;
  readonly iouTypes: readonly IouType[];
  readonly optimization: SessionOptions['optimization'];
  /** The recipe's where absent. */
  readonly fit?: FitPolicy;
}
