/** The state of each stage as the page shows it: that of the running build where one runs, else that of the files; in a saved page how it ended. */
import { useMemo } from 'preact/hooks';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import type { RunningStage } from '../../project/running-build.js';
import { build as buildStore } from '../api/live.js';
import { useStore } from '../api/store.js';

export interface StageState {
  /** A name of `lookOf`. */
  readonly state: string;
  /** Of the running or last build. */
  readonly live: RunningStage | undefined;
}

export function useStageStates(pipeline: PipelineView): ReadonlyMap<string, StageState> {
  const build = useStore(buildStore);
  return useMemo(() => {
    const isRunning = build?.state === 'running';
    const pending = new Set(isRunning ? build.pending.map(({ stage }) => stage) : []);
    return new Map(
      pipeline.stages.map(({ id, state, outcome }): [string, StageState] => {
        const live = build?.stages[id];
        if (isRunning && live !== undefined) return [id, { state: isEdited(live, state, pipeline) ? state : live.state, live }];
        if (isRunning && pending.has(id)) return [id, { state: 'waiting', live }];
        // A stage that failed is out of date too; that it failed says more.
        return [id, { state: live?.state === 'failed' && state !== 'up-to-date' ? 'failed' : (outcome ?? state), live }];
      }),
    );
  }, [pipeline, build]);
}

/** Whether a view of the files that is newer than the stage's result finds it out of date: it was edited while it ran. */
function isEdited({ endedMs }: RunningStage, state: string, { readMs }: PipelineView): boolean {
  return endedMs !== undefined && endedMs < readMs && state !== 'up-to-date';
}
