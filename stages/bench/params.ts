/** What does a `bench` stage set? */
import type { RunnerParams } from '../../src/runtime/device/runner-params.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';

export interface BenchParams extends RunnerParams {
  readonly warmup: number;
  readonly repeats: number;
  readonly threads: number;
  readonly optimization: SessionOptions['optimization'];
  /** Row counts to time, instead of those captured. */
  readonly rois?: readonly number[];
  /** How many of the captured row counts are timed. */
  readonly counts: number;
  readonly batches: readonly number[];
  readonly sessions: number;
  readonly operators: boolean;
}
