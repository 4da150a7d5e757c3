/**
 * Runs that continue while a build switches to a newer plan. The table shows what happens to each stage:
 *
 * | its run or end under the older plan | its action under the newer plan | what happens | decided by |
 * |---|---|---|---|
 * | runs | the same, and its inputs are unchanged | joined | `findNextStep`, `joinRun` |
 * | runs | a different one, or an input has changed | stopped, runs again | `findWantedRun` |
 * | runs | already has a result | stopped | `buildAndClear` |
 * | runs | reads from a stage that runs again | stopped when that stage starts | `stopReaders` |
 * | runs | none: the stage is no longer built | stopped | `buildStages` |
 * | waits for its pool | any | waits again under the newer plan | `runInSlot` |
 * | ended with a result | the same | kept, reported as it ended | `mergeEnds` |
 * | failed | the same, and its inputs are unchanged | stays failed | `findFailure` |
 * | failed | a different one, or an input has changed | runs again | `findFailure` |
 */

import type { PinnedStage } from '../action/pinned-stage.js';
import type { RunEnd } from '../execute/run-once.js';
import { removeRunFolder } from '../execute/starter/remove-run-folder.js';
import type { StageId } from '../model/plan.js';

export interface OngoingRun {
  /** The action at the start of the run. Its inputs are later compared with this. */
  readonly pinned: PinnedStage;
  readonly ended: Promise<RunEnd>;
}

export interface OngoingRuns {
  /** Returns the stage's run. If a run is being stopped, waits for its end first. */
  find(stage: StageId): Promise<OngoingRun | undefined>;
  /** @param run must end soon after the signal is aborted. A run that rejects is no longer ongoing. */
  start(stage: StageId, pinned: PinnedStage, run: (stop: AbortSignal) => Promise<RunEnd>): OngoingRun;
  /** Forgets the run, which has ended. The caller owns its end and its folder. */
  release(stage: StageId): void;
  /** Kills the stage's run, if there is one. `why` is the reported reason. Resolves when the run has ended and its folder is removed. */
  stop(stage: StageId, why: string): Promise<void>;
  /** Resolves when the stage's current run, if there is one, has ended. */
  whenEnded(stage: StageId): Promise<void>;
  /** Returns the stages that have a run. */
  stages(): readonly StageId[];
}

interface Entry extends OngoingRun {
  readonly stop: AbortController;
  stopping: Promise<void> | undefined;
}

/** @param onStopped called once for each run that is stopped before its end. */
export function createOngoingRuns(onStopped: (stage: StageId, why: string) => void): OngoingRuns {
  const entries = new Map<StageId, Entry>();
  const forget = (stage: StageId, entry: Entry): void => {
    if (entries.get(stage) === entry) entries.delete(stage);
  };
  return {
    async find(stage) {
      await entries.get(stage)?.stopping;
      return entries.get(stage);
    },
    start(stage, pinned, run) {
      const stop = new AbortController();
      const entry: Entry = { pinned, ended: run(stop.signal), stop, stopping: undefined };
      entries.set(stage, entry);
      entry.ended.catch(() => forget(stage, entry));
      return entry;
    },
    release(stage) {
      entries.delete(stage);
    },
    async stop(stage, why) {
      const entry = entries.get(stage);
      if (entry === undefined) return;
      if (entry.stopping === undefined) {
        onStopped(stage, why);
        entry.stop.abort();
        entry.stopping = entry.ended
          .then(
            ({ folder }) => removeRunFolder(folder),
            () => undefined,
          )
          .then(() => forget(stage, entry));
      }
      await entry.stopping;
    },
    async whenEnded(stage) {
      await entries.get(stage)?.ended.catch(() => undefined);
    },
    stages: () => [...entries.keys()],
  };
}
