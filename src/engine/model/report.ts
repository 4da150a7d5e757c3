/** What is left when a build has ended? */
import type { JsonObject } from '../../base/json.js';
import type { CheckResult } from './check-result.js';
import type { GateResult } from './gate-result.js';
import type { Outcome } from './outcome.js';
import type { StageId } from './plan.js';

export interface BuildReport {
  /** Every selected stage, in the plan's order. */
  readonly stages: ReadonlyMap<StageId, StageReport>;
  readonly gates: readonly GateResult[];
  /** Of the targets, where the build was to check them. */
  readonly checks: readonly CheckResult[];
  readonly durationMs: number;
  /** The worst that happened: cancelled, then failed, then a second run that differed, then a missed gate. */
  readonly conclusion: 'built' | 'gate-missed' | 'not-reproduced' | 'failed' | 'cancelled';
}

export interface StageReport {
  readonly stage: StageId;
  readonly outcome: Outcome;
  /** Content of the stage's metrics artifact, where it has one and the stage did not fail. */
  readonly metrics: JsonObject | undefined;
  /** Metrics of the result that this build replaced; absent where it replaced none. */
  readonly previousMetrics: JsonObject | undefined;
  /** How the result stands to the lock, in a frozen build. */
  readonly locked?: LockVerdict | undefined;
  /** Where the outputs lie, relative to the project folder, by port. Empty where the stage failed. */
  readonly artifacts: Readonly<Record<string, string>>;
}

/** How what came of a stage stands to the lock. 'rebuilt': made on this class, which is not locked. */
export type LockVerdict = 'as-locked' | 'rebuilt' | 'by-gates';
