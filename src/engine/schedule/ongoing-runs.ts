/**
 * Runs that go on while a build turns to a newer plan. What becomes of a stage then:
 *
 * | its run or end under the older plan | its action under the newer plan | then | decided by |
 * |---|---|---|---|
 * | runs | the same, and nothing that it read has changed | joined | `approach`, `joinRun` |
 * | runs | another one, or something that it read has changed | stopped, runs again | `findWantedRun` |
 * | runs | has a result already | stopped | `buildAndClear` |
 * | runs | reads from a stage that runs again | stopped when that one starts | `stopReaders` |
 * | runs | none: it is not built any more | stopped | `buildStages` |
 * | waits for its pool | any | waits anew under the newer plan | `runInSlot` |
 * | ended well | the same | kept, reported as it ended | `mergeEnds` |
 * | failed | the same, and nothing that it read has changed | stays failed | `findFailure` |
 * | failed | another one, or something that it read has changed | tried again | `findFailure` |
 */

import type { PinnedStage } from '../action/pinned-stage.js';
import type { RunEnd } from '../execute/run-once.js';
import { removeRunFolder } from '../execute/starter/remove-run-folder.js';
import type { StageId } from '../model/plan.js';

export interface OngoingRun {
  /** The action as it was when the run began: what it reads is held against this. */
  readonly pinned: PinnedStage;
  readonly ended: Promise<RunEnd>;
}

export interface OngoingRuns {
  /** The stage's run, once one that is being stopped has ended. */
  find(stage: StageId): Promise<OngoingRun | undefined>;
  /** @param run ends soon when the signal is aborted. One that rejects is not ongoing any more. */
  start(stage: StageId, pinned: PinnedStage, run: (stop: AbortSignal) => Promise<RunEnd>): OngoingRun;
  /** The run has ended, and the caller has its end with its folder. */
  release(stage: StageId): void;
  /** Kills the stage's run, if it has one, as `why` says; resolves when nothing of it is left. */
  stop(stage: StageId, why: string): Promise<void>;
  /** Resolves when the stage's present run, if there is one, has ended. */
  whenEnded(stage: StageId): Promise<void>;
  /** Stages with a run. */
  stages(): readonly StageId[];
}

interface Entry extends OngoingRun {
  readonly stop: AbortController;
  stopping: Promise<void> | undefined;
}

/** @param onStopped told once of each run that is stopped before it has ended. */
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
