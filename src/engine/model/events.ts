/** Events of a running build. Renderers turn them into lines; nothing else prints. */

import type { CheckResult } from './check-result.js';
import type { GateResult } from './gate-result.js';
import type { Holder } from './lock-holder.js';
import type { Outcome } from './outcome.js';
import type { Outlook } from './outlook.js';
import type { StageId } from './plan.js';

export type BuildEvent =
  /** `holder`: the description that the process using the folder gives of itself; undefined if it gives none. */
  | { readonly kind: 'waiting-for-lock'; readonly folder: string; readonly holder: Holder | undefined }
  /** The same action already runs: 'here' in another stage of this build, 'elsewhere' in another checkout with the same shared cache. */
  | { readonly kind: 'waiting-for-run'; readonly stage: StageId; readonly where: 'here' | 'elsewhere' }
  /** The stages that may have to run and the durations of their last runs. Emitted at the start and again for a newer plan. */
  | { readonly kind: 'outlook'; readonly outlook: Outlook }
  /** A run starts in a slot of its pools. `reasons`: why it runs, most important first. `attempt` counts from 1. */
  | { readonly kind: 'stage-started'; readonly stage: StageId; readonly reasons: readonly string[]; readonly attempt: number }
  | { readonly kind: 'progress'; readonly stage: StageId; readonly done: number; readonly total: number; readonly what: string }
  /** A line of the stage's log. `output` is output of a program that the stage started. Warnings are also emitted as 'warning' events. */
  | { readonly kind: 'log'; readonly stage: StageId; readonly level: 'info' | 'warning' | 'output'; readonly message: string }
  | { readonly kind: 'warning'; readonly stage: StageId | undefined; readonly code: WarningCode; readonly message: string }
  /** An attempt failed, and another follows. */
  | { readonly kind: 'retrying'; readonly stage: StageId; readonly message: string; readonly inMs: number }
  /** A span of the stage's work has ended. Times are from `performance.now()`. */
  | ({ readonly kind: 'span'; readonly stage: StageId } & Span)
  /** A run was stopped because a change affects it (watch). If its stage is still built, it starts again. */
  | { readonly kind: 'run-outdated'; readonly stage: StageId; readonly because: string }
  /** Emitted once for every selected stage. In a build that switched to a newer plan, emitted again for each stage of that plan. */
  | { readonly kind: 'outcome'; readonly stage: StageId; readonly outcome: Outcome }
  | { readonly kind: 'gate'; readonly result: GateResult }
  /** Everything is built, and the build waits for results that go to the remote cache. */
  | { readonly kind: 'uploading'; readonly results: number; readonly address: string }
  /** Everything is built again for comparison. */
  | { readonly kind: 'clean-build'; readonly name: string }
  /** A stage that has ended runs a second time for comparison. */
  | { readonly kind: 'check-started'; readonly stage: StageId }
  | { readonly kind: 'check'; readonly result: CheckResult };

/** The duration and kind of one piece of work. */
export interface Span {
  readonly what: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  /** Only for a part. */
  readonly part?: { readonly name: string; readonly answer: PartAnswerKind };
  /** Only for a run in a worker: its peak memory in bytes. */
  readonly peakBytes?: number | undefined;
}

/** Whether a part's result was found, computed, or dropped. */
export type PartAnswerKind = 'kept' | 'computed' | 'dropped';

export type SpanKind =
  /** Before the stage requests a slot: digests of its inputs, and restoring if a result is known. */
  | 'look'
  /** Waiting for a slot in its pools. */
  | 'wait'
  /** The slot is taken. The spans below are inside this one. */
  | 'slot'
  | 'hash'
  | 'restore'
  | 'run'
  | 'part'
  /** Collecting outputs: checks against the declaration, and digests. */
  | 'collect'
  /** Check that the inputs are unchanged. */
  | 'check'
  /** Writing to the cache. */
  | 'store'
  /** Publishing under artifacts/. */
  | 'publish'
  /** The delay between a failed attempt and the next. */
  | 'back-off';

/** Stable codes of warnings: docs/errors.md. */
export type WarningCode =
  | 'stage-warning'
  | 'cache-damaged'
  | 'cache-write-failed'
  | 'cache-exposed'
  | 'shared-cache-failed'
  | 'remote-cache-failed'
  | 'remote-execution-failed'
  | 'state-damaged'
  | 'state-blocked'
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
