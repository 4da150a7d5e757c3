/** What happens during a build, as it happens? Renderers turn these into lines; nothing else prints. */

import type { CheckResult } from './check-result.js';
import type { GateResult } from './gate-result.js';
import type { Holder } from './lock-holder.js';
import type { Outcome } from './outcome.js';
import type { Outlook } from './outlook.js';
import type { StageId } from './plan.js';

export type BuildEvent =
  /** `holder`: what the process that uses the folder says of itself; undefined where it says nothing. */
  | { readonly kind: 'waiting-for-lock'; readonly folder: string; readonly holder: Holder | undefined }
  /** Another checkout with the same shared cache runs the stage's action now. */
  | { readonly kind: 'waiting-for-run'; readonly stage: StageId; readonly where: 'here' | 'elsewhere' }
  /** What may have to run, and how long that took last: at the beginning, and again where there is a newer plan. */
  | { readonly kind: 'outlook'; readonly outlook: Outlook }
  /** A run starts in a slot of its pools. `reasons`: why, most important first. `attempt` counts from 1. */
  | { readonly kind: 'stage-started'; readonly stage: StageId; readonly reasons: readonly string[]; readonly attempt: number }
  | { readonly kind: 'progress'; readonly stage: StageId; readonly done: number; readonly total: number; readonly what: string }
  /** A line of the stage's log: `output` is what a program it started wrote. Warnings come as 'warning' events too. */
  | { readonly kind: 'log'; readonly stage: StageId; readonly level: 'info' | 'warning' | 'output'; readonly message: string }
  | { readonly kind: 'warning'; readonly stage: StageId | undefined; readonly code: WarningCode; readonly message: string }
  /** A try failed, and another follows. */
  | { readonly kind: 'retrying'; readonly stage: StageId; readonly message: string; readonly inMs: number }
  /** A piece of a stage's way through the build has ended. Times by `performance.now()`. */
  | ({ readonly kind: 'span'; readonly stage: StageId } & Span)
  /** A run was stopped, as a change reaches what it does (watch); where its stage is still built, it starts again. */
  | { readonly kind: 'run-outdated'; readonly stage: StageId; readonly because: string }
  /** Comes once for every selected stage; in a build that turned to a newer plan, once more for each under that. */
  | { readonly kind: 'outcome'; readonly stage: StageId; readonly outcome: Outcome }
  | { readonly kind: 'gate'; readonly result: GateResult }
  /** A stage that has ended runs once more, to be compared. */
  | { readonly kind: 'check-started'; readonly stage: StageId }
  | { readonly kind: 'check'; readonly result: CheckResult };

/** How long something took, and what it was. */
export interface Span {
  readonly what: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  /** Of a part. */
  readonly part?: { readonly name: string; readonly answer: PartAnswerKind };
  /** Of a run in a worker: the most memory that it had at a time. */
  readonly peakBytes?: number | undefined;
}

/** Was a part's result there, was it computed, or was it given up? */
export type PartAnswerKind = 'kept' | 'computed' | 'dropped';

export type SpanKind =
  /** Before the stage asks for a slot: digests of its inputs, and restoring where a result is known. */
  | 'look'
  /** For a slot in its pools. */
  | 'wait'
  /** The slot is taken; the others below are within. */
  | 'slot'
  | 'hash'
  | 'restore'
  | 'run'
  | 'part'
  /** Outputs: are they what was declared, and what are their digests? */
  | 'collect'
  /** Whether the inputs are still what they were. */
  | 'check'
  /** Into the cache. */
  | 'store'
  /** Under artifacts/. */
  | 'publish'
  /** Between a try that failed and the next. */
  | 'back-off';

/** Stable codes of what is worth a warning: docs/errors.md. */
export type WarningCode =
  | 'stage-warning'
  | 'cache-damaged'
  | 'cache-write-failed'
  | 'cache-exposed'
  | 'shared-cache-failed'
  | 'state-damaged'
  | 'history-newer'
  | 'artifact-edited'
  | 'foreign-files'
  | 'cache-unreadable'
  | 'root-build'
  | 'non-deterministic'
  | 'input-changed'
  | 'lock-unavailable'
  | 'lock-not-written'
  | 'part-not-kept'
  | 'device-changed';
