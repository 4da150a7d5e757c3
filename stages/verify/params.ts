/** The params of `verify`. */

import type { FitPolicy } from '../../src/detection/detector/detector-family.js';
import type { Preprocessing } from '../../src/detection/image/preprocessing.js';
import type { RunnerParams } from '../../src/runtime/device/runner-params.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import type { StageJob } from '../../src/stage/define-stage.js';

/** The form of one side: three models of a detector; one model with all parts; a model without a detector; or, for the reference, captured tensors. */
export type SideForm = 'parts' | 'whole' | 'model' | 'captured';

/** One bound for all values, or bounds by value name with `default` for the others: `{default: 20, class_logits: 30}`. */
export type Bound = number | Readonly<Record<string, number>>;

export interface Thresholds {
  readonly minSqnrDb?: Bound;
  readonly minCosine?: Bound;
  readonly maxAbs?: Bound;
  /** Shares, 0 … 1. */
  readonly maxMissed?: number;
  readonly maxExtra?: number;
  readonly maxScoreDifference?: number;
  readonly minBoxIou?: number;
  readonly minMaskIou?: number;
}

/** `runner` applies to the candidate. */
export interface VerifyParams extends RunnerParams {
  readonly part?: string;
  readonly reference: SideForm;
  readonly candidate: SideForm;
  /** 'all': also inner values, with propagated errors. */
  readonly values: 'outputs' | 'all';
  readonly samples: number;
  /** Image ids, instead of `samples`. */
  readonly images?: readonly number[];
  readonly optimization: SessionOptions['optimization'];
  readonly fit?: FitPolicy;
  readonly preprocess?: Preprocessing;
  readonly matchIou: number;
  readonly minScore: number;
  readonly thresholds: Thresholds;
}

export type VerifyJob = StageJob<VerifyParams>;
