/** The state of a stage while a build runs or after it, from the view of its files and from the journal of the build. */
import type { StageRow } from '../../../report/views/pipeline-data.js';
import type { RunningBuild, RunningStage } from '../../project/running-build.js';

/** @param readMs when the files were read. @returns a name of `lookOf`. */
export function stateOf(
  { id, state, outcome }: Pick<StageRow, 'id' | 'state' | 'outcome'>,
  readMs: number,
  build: RunningBuild | undefined,
): string {
  const live = build?.stages[id];
  if (build?.state === 'running') {
    if (live !== undefined) return isEdited(live, state, readMs) ? state : live.state;
    if (build.pending.some(({ stage }) => stage === id)) return 'waiting';
  }
  // A stage that failed is out of date too; that it failed says more.
  return live?.state === 'failed' && state !== 'up-to-date' ? 'failed' : (outcome ?? state);
}

/** Outcomes after which the files of a stage are up to date. After any other one it is out of date without an edit. */
const GOOD: readonly RunningStage['state'][] = ['executed', 'restored', 'up-to-date'];

/** Whether a view of the files that is newer than the stage's result finds it out of date: it was edited while the build ran. */
function isEdited({ state: ended, endedMs }: RunningStage, state: string, readMs: number): boolean {
  return GOOD.includes(ended) && endedMs !== undefined && endedMs < readMs && state !== 'up-to-date';
}
