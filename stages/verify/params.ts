/** What may be set on `verify`? */
import type { FitPolicy, MaskRcnnPart } from '../../src/detection/recipe.js';
import type { RunnerParams } from '../../src/runtime/runner-params.js';
import type { SessionOptions } from '../../src/runtime/session.js';

/** How one side is given: three models, or one that holds all parts. */
export type SideForm = 'parts' | 'whole';

/** One bound for all values, or bounds by value name; with both, the name's counts: `{default: 20, class_logits: 30}`. */
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

/** `runner`: of the candidate. */
export interface VerifyParams extends RunnerParams {
  readonly part?: MaskRcnnPart;
  readonly reference: SideForm;
  readonly candidate: SideForm;
  readonly samples: number;
  /** Image ids, instead of `samples`. */
  readonly images?: readonly number[];
  readonly optimization: SessionOptions['optimization'];
  readonly fit?: FitPolicy;
  readonly matchIou: number;
  readonly minScore: number;
  readonly thresholds: Thresholds;
}
