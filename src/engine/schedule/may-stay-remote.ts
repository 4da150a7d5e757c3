/** Whether the result of a stage may stay on a server, so that nothing of it is here. */
import { existsSync } from 'node:fs';
import { placeOf, type Session } from '../action/session.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import type { StageNeeds } from './stage-needs.js';

/** A stage that has published something gets its new result, so that artifacts/ never mixes results of two builds. */
export function mayStayRemote({ session, stage, rule, leaves }: StageNeeds): boolean {
  if (!leaves || rule !== undefined || session.state.stages.has(stage.id)) return false;
  return !existsSync(placeOf(session.plan, stage).folder);
}

/** Outputs of targets come here if they are asked for. A checked stage is compared byte for byte. */
export function mayLeave(
  { remote }: Pick<Session, 'remote'>,
  { checked, targets }: { readonly checked: ReadonlySet<StageId>; readonly targets: ReadonlySet<StageId> },
  { id }: PlannedStage,
): boolean {
  const download = remote?.use.download ?? 'all';
  if (download === 'all' || checked.size > 0) return false;
  return download === 'none' || !targets.has(id);
}
