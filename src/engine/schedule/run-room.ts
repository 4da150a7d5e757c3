/** What do runs share, and keep while their build turns to a newer plan? Slots, who ends them when the build is killed, and what has failed. */
import { availableParallelism } from 'node:os';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { Guard } from '../execute/guard/guard.js';
import { createReaper, type Reaper } from '../execute/reaper.js';
import type { Repairs } from '../execute/repair-artifact.js';
import { createStarters, type Starters } from '../execute/starter/starters.js';
import type { StageId } from '../model/plan.js';
import type { EnginePorts } from '../model/ports.js';
import type { StageEnd } from '../model/stage-end.js';
import type { CacheFolder } from '../store/cache-folder.js';
import { createTurns, type Turns } from '../store/lock/turns.js';
import { createOngoingRuns, type OngoingRuns } from './ongoing-runs.js';
import { createStageQueue, type StageQueue, type Units } from './stage-queue.js';

/** A failure of this build: the same action is not tried again in it. */
export interface FailedRun {
  readonly pinned: PinnedStage;
  readonly end: StageEnd;
}

export interface RunRoom {
  readonly slots: StageQueue;
  readonly runs: OngoingRuns;
  readonly reaper: Reaper;
  readonly starters: Starters;
  /** Who watches what runs start. */
  readonly guard: Guard | undefined;
  readonly failures: Map<StageId, FailedRun>;
  readonly turns: Turns;
  readonly repairs: Repairs;
  /** Units of each pool; what runs already keeps those that it has. */
  setCapacity(capacity: Units): void;
  /** Ends what still runs. */
  close(): Promise<void>;
}

/** A starter takes as long to be up as some programs take to start. */
const DIRECT_STARTS = 4;

/** One process starts some hundreds of programs a second, more than two cores run. */
const CORES_PER_STARTER = 2;
const MOST_STARTERS = 4;

export function openRunRoom(
  cache: CacheFolder,
  { emit, signal, installRoot }: Pick<EnginePorts, 'emit' | 'signal' | 'installRoot'>,
  guard: Guard | undefined,
): RunRoom {
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
    failures: new Map(),
    turns: createTurns(cache, { emit, signal }),
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
