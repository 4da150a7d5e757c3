/** A rule beside the cache's own about the results that stages may end with. A frozen build has one: its lock file. */
import type { JsonObject } from '../../base/json.js';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import type { Contents } from '../model/artifact.js';
import type { PlannedStage } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';

export type RuledEnd =
  | { readonly kind: 'ended'; readonly end: StageEnd }
  /** Whatever else the cache has is not taken. */
  | { readonly kind: 'must-run'; readonly reasons: readonly string[] }
  /** The cache decides, as without a rule. */
  | { readonly kind: 'open' };

export interface ResultRule {
  /** @throws EngineError where the action is refused. */
  assertAction(stage: PlannedStage, manifest: JsonObject): void;
  /** The stage's end without a run, where the rule names one. */
  find(session: Session, stage: PlannedStage, pinned: PinnedStage): Promise<RuledEnd>;
  /** @throws EngineError where a run's outputs are refused. */
  assertOutputs(stage: PlannedStage, manifest: JsonObject, outputs: Contents): void;
}
