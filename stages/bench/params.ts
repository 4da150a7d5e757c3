/** The params of `bench`. */
import type { RunnerParams } from '../../src/runtime/device/runner-params.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';

export interface BenchParams extends RunnerParams {
  readonly warmup: number;
  readonly repeats: number;
  readonly threads: number;
  readonly optimization: SessionOptions['optimization'];
  /** Row counts to time, instead of the captured ones. */
  readonly rois?: readonly number[];
  /** Number of captured row counts to time. */
  readonly counts: number;
  readonly batches: readonly number[];
  readonly sessions: number;
  readonly operators: boolean;
}
