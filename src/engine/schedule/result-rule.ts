/** The rule for acceptable results of stages, in addition to the cache's own. A frozen build has one, made from its lock file. */
import type { JsonObject } from '../../base/json.js';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import type { Contents } from '../model/artifact.js';
import type { PlannedStage } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';

export type RuledEnd =
  | { readonly kind: 'ended'; readonly end: StageEnd }
  /** The stage must run. Other results in the cache are not used. */
  | { readonly kind: 'must-run'; readonly reasons: readonly string[] }
  /** The cache decides, as without a rule. */
  | { readonly kind: 'open' };

export interface ResultRule {
  /** @throws EngineError if the action is refused. */
  assertAction(stage: PlannedStage, manifest: JsonObject): void;
  /** Returns the stage's end without a run, if the rule determines one. */
  find(session: Session, stage: PlannedStage, pinned: PinnedStage): Promise<RuledEnd>;
  /** @throws EngineError if the outputs of a run are refused. */
  assertOutputs(stage: PlannedStage, manifest: JsonObject, outputs: Contents): void;
}
