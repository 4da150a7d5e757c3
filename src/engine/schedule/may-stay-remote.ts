/** Whether the result of a stage may stay on a server, so that nothing of it is here. */
import { existsSync } from 'node:fs';
import { placeOf } from '../action/session.js';
import type { StageNeeds } from './stage-needs.js';

/** A stage that has published something gets its new result, so that artifacts/ never mixes results of two builds. */
export function mayStayRemote({ session, stage, rule, leaves }: StageNeeds): boolean {
  if (!leaves || rule !== undefined || session.state.stages.has(stage.id)) return false;
  return !existsSync(placeOf(session.plan, stage).folder);
}
