/** The report of a finished build. */
import type { JsonObject } from '../../base/json.js';
import type { CheckResult } from './check-result.js';
import type { GateResult } from './gate-result.js';
import type { Outcome } from './outcome.js';
import type { StageId } from './plan.js';
import type { RemoteSummary } from './remote-summary.js';

export interface BuildReport {
  /** Every selected stage, in the plan's order. */
  readonly stages: ReadonlyMap<StageId, StageReport>;
  readonly gates: readonly GateResult[];
  /** Checks of the targets, if the build was asked to check them. */
  readonly checks: readonly CheckResult[];
  readonly durationMs: number;
  /** Defined if the build used a remote cache. */
  readonly remote?: RemoteSummary | undefined;
  /** The worst result: cancelled, then failed, then a second run that differed, then a missed gate. */
  readonly conclusion: 'built' | 'gate-missed' | 'not-reproduced' | 'failed' | 'cancelled';
}

export interface StageReport {
  readonly stage: StageId;
  readonly outcome: Outcome;
  /** Content of the stage's metrics artifact, if it has one and the stage did not fail. */
  readonly metrics: JsonObject | undefined;
  /** Metrics of the result that this build replaced; absent if it replaced none. */
  readonly previousMetrics: JsonObject | undefined;
  /** In a frozen build: the comparison of the result with the lock. */
  readonly locked?: LockVerdict | undefined;
  /** Paths of the outputs by port, relative to the project folder. Empty if the stage failed. */
  readonly artifacts: Readonly<Record<string, string>>;
  /** Of a skipped stage: paths of what it made from the inputs that exist, by port, and the stages whose results it lacks. */
  readonly partial?: { readonly artifacts: Readonly<Record<string, string>>; readonly without: readonly string[] } | undefined;
  /** Sizes of the outputs by port. */
  readonly sizesBytes?: Readonly<Record<string, number>>;
}

/** Comparison of a stage's result with the lock. 'rebuilt': made on this platform class, which is not locked. */
export type LockVerdict = 'as-locked' | 'rebuilt' | 'by-gates';
