/** What a build would do with a stage, and what is known of the stage's action. */
import type { JsonObject } from '../../../base/json.js';
import type { Change } from '../../action/changes.js';
import type { PinnedStage } from '../../action/pinned-stage.js';
import type { AcceptedStage } from '../../model/accepted-stage.js';
import type { Failure } from '../../model/failure.js';
import type { KnownResult } from '../../model/known-result.js';
import type { StageId } from '../../model/plan.js';
import type { KnownDevice } from '../../store/state.js';

export type StageStatus =
  | { readonly kind: 'up-to-date' }
  /** The cache has a result for exactly these inputs. */
  | { readonly kind: 'restorable'; readonly reasons: readonly string[]; readonly changes: readonly Change[] }
  /** A build would run it once the stages `after` have ended, whatever their results. */
  | { readonly kind: 'stale'; readonly reasons: readonly string[]; readonly changes: readonly Change[]; readonly after: readonly StageId[] }
  /**
   * It depends on stages that would run. It runs unless the cache has a result for their outputs. `changes`: the changes known so far.
   * `equalStage`: a stage whose action may be equal. The first of the two runs; the other takes its result.
   */
  | { readonly kind: 'undecided'; readonly because: readonly StageId[]; readonly changes: readonly Change[]; readonly equalStage?: StageId }
  /** It cannot start: an input is missing or unreadable. */
  | { readonly kind: 'impossible'; readonly failure: Failure }
  /** It cannot start because a stage that it depends on cannot. */
  | { readonly kind: 'blocked'; readonly because: StageId };

export interface Examined {
  readonly status: StageStatus;
  /** The action without inputs that are not known yet; absent if the stage was not, or could not be, examined in detail. */
  readonly pinned: PinnedStage | undefined;
  /** The complete manifest; absent if an input is not known. */
  readonly manifest: JsonObject | undefined;
  readonly accepted: AcceptedStage | undefined;
  /** Of a restorable stage: the result in the cache. */
  readonly cached?: KnownResult | undefined;
  /** What is known of the device that the stage measures on, from its last start. */
  readonly device: KnownDevice | undefined;
}

/** The finding about one stage. */
export interface Found {
  readonly status: StageStatus;
  readonly pinned?: PinnedStage;
  /** Every input is known. */
  readonly isWhole?: true;
  /** The outputs, if they are known before the build. */
  readonly result?: KnownResult;
}

export const upToDate: Found = { status: { kind: 'up-to-date' } };
