/** The state of each stage as the page shows it: that of the running build where one runs, else that of the files; in a saved page how it ended. */
import { useMemo } from 'preact/hooks';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import type { RunningStage } from '../../project/running-build.js';
import { build as buildStore } from '../api/live.js';
import { useStore } from '../api/store.js';
import { stateOf } from '../builds/state-while-building.js';

export interface StageState {
  /** A name of `lookOf`. */
  readonly state: string;
  /** Of the running or last build. */
  readonly live: RunningStage | undefined;
}

export function useStageStates(pipeline: PipelineView): ReadonlyMap<string, StageState> {
  const build = useStore(buildStore);
  return useMemo(
    () =>
      new Map(
        pipeline.stages.map((row): [string, StageState] => [
          row.id,
          { state: stateOf(row, pipeline.readMs, build), live: build?.stages[row.id] },
        ]),
      ),
    [pipeline, build],
  );
}
