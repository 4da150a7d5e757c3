/** The shared environment of runs: slots, helper processes and past failures. It persists while a build switches to a newer plan. */
import { availableParallelism } from 'node:os';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { Guard } from '../execute/guard/guard.js';
import type { RemoteRuns } from '../execute/remote/remote-runs.js';
import type { Repairs } from '../execute/repair-artifact.js';
import { createReaper, type Reaper } from '../execute/run/reaper.js';
import { createStarters, type Starters } from '../execute/starter/starters.js';
import type { StageId } from '../model/plan.js';
import type { EnginePorts } from '../model/ports.js';
import type { StageEnd } from '../model/stage-end.js';
import type { CacheFolder } from '../store/cache-folder.js';
import { type ActionLocks, createActionLocks } from '../store/lock/action-locks.js';
import { createOngoingRuns, type OngoingRuns } from './ongoing-runs.js';
import { createStageQueue, type StageQueue } from './stage-queue.js';
import type { Units } from './unit-counts.js';

/** A failure. The same action is not run again in this build. */
export interface FailedRun {
  readonly pinned: PinnedStage;
  readonly end: StageEnd;
}

/** The last failure of each stage. */
export type FailedRuns = Map<StageId, FailedRun>;

export interface RunServices {
  readonly slots: StageQueue;
  readonly runs: OngoingRuns;
  readonly reaper: Reaper;
  readonly starters: Starters;
  /** Guards the processes of runs. Defined only if the build asks for a guard. */
  readonly guard: Guard | undefined;
  /** Defined if the build has a server that may run actions. */
  readonly remote: RemoteRuns | undefined;
  readonly failures: FailedRuns;
  /** Those of the failures that are of an earlier build, and that this one has not reported yet. */
  readonly unreported: Set<StageEnd>;
  readonly actionLocks: ActionLocks;
  readonly repairs: Repairs;
  /** Sets the units of each pool. Ongoing runs keep the units that they have. */
  setCapacity(capacity: Units): void;
  /** Stops all ongoing runs. */
  close(): Promise<void>;
}

/** Number of programs that are started directly. Starters take more processor time than they save in a build of some 100 programs. */
const DIRECT_STARTS = 120;

/** Processor cores per starter. One starter starts some hundreds of programs per second, more than two cores can run. */
const CORES_PER_STARTER = 2;
const MOST_STARTERS = 4;

export function openRunServices(
  cache: CacheFolder,
  { emit, signal, installRoot }: Pick<EnginePorts, 'emit' | 'signal' | 'installRoot'>,
  guard: Guard | undefined,
  remote: RemoteRuns | undefined,
  failures: FailedRuns = new Map(),
): RunServices {
  const capacity: Record<string, number> = {};
  const reaper = createReaper();
  const count = Math.min(MOST_STARTERS, Math.ceil(availableParallelism() / CORES_PER_STARTER));
  const starters = createStarters(installRoot, { count, after: DIRECT_STARTS, reaper });
  const runs = createOngoingRuns((stage, because) => {
    if (!signal.aborted) emit({ kind: 'run-outdated', stage, because });
  });
  return {
    slots: createStageQueue(capacity),
    runs,
    reaper,
    starters,
    guard,
    remote,
    failures,
    unreported: new Set([...failures.values()].map(({ end }) => end)),
    actionLocks: createActionLocks(cache, { emit, signal }),
    repairs: new Map(),
    setCapacity(next) {
      for (const pool of Object.keys(capacity)) delete capacity[pool];
      Object.assign(capacity, next);
    },
    async close() {
      await Promise.all(runs.stages().map(stage => runs.stop(stage, 'the build ends')));
      await starters.close();
      reaper.close();
    },
  };
}
