/** The queue of ready stages: the next to run is the most urgent one whose units are free in all its pools. */
import PQueue from 'p-queue';
import { comesFirst, createReadyHeap, type ReadyHeap, type Waiting } from './ready-heap.js';
import { createUnitCounts, type Taken, type Units } from './unit-counts.js';

export interface StageQueue {
  /** How many runs with these units the pools could hold. */
  fits(units: Units): number;
  /** Runs `work` when its units are free. Higher `urgency` goes first. */
  add<T>(work: () => Promise<T>, options: RunOptions): Promise<T>;
}

export interface RunOptions {
  readonly urgency: number;
  readonly units: Units;
  /** For a run that others may end: called once, when a more urgent run waits for its units. It should give them back soon. */
  readonly recall?: () => void;
}

interface ReadyRun extends Waiting {
  readonly recall: (() => void) | undefined;
  start(giveBack: () => void): void;
}

/** Runs that take the same units. If one of them fits, all do. */
interface Lane {
  readonly units: Units;
  readonly waiting: ReadyHeap<ReadyRun>;
}

/**
 * The queue admits runs by their units, and p-queue executes the admitted ones. p-queue never receives more than fits, and reports when a run has ended.
 * @param capacity units of each pool. A run that needs more than the capacity takes all of it; a pool that is not listed has one unit.
 */
export function createStageQueue(capacity: Units): StageQueue {
  const running = new PQueue();
  const counts = createUnitCounts(capacity);
  const { wanted, change } = counts;
  const lanes = new Map<string, Lane>();
  const fits = ({ units }: Lane): boolean => wanted(units).every(([pool, count]) => count <= counts.free(pool));
  /** Runs that can be recalled, and their units. */
  const recallable = new Map<ReadyRun, Taken>();
  /** Units that recalled runs have not given back yet. */
  const recalled = new Map<string, number>();
  const isShort = (pool: string, count: number): boolean => count > counts.free(pool) + (recalled.get(pool) ?? 0);

  let asked = 0;
  const laneOf = (units: Units): Lane => {
    const name = JSON.stringify(Object.entries(units).sort());
    const lane = lanes.get(name) ?? { units, waiting: createReadyHeap<ReadyRun>(() => asked++) };
    lanes.set(name, lane);
    return lane;
  };
  const recallableUnits = (pool: string): number =>
    [...recallable.values()].flat().reduce((sum, [name, count]) => (name === pool ? sum + count : sum), 0);
  /** Whether the first run of the lane could start if all loans ended. */
  const isAwaited = ({ units, waiting }: Lane): boolean => {
    const first = waiting.peek()?.item;
    return (
      first !== undefined &&
      first.recall === undefined &&
      wanted(units).every(([pool, count]) => !isShort(pool, count - recallableUnits(pool)))
    );
  };
  const findNext = (): Lane | undefined => {
    let next: Lane | undefined;
    for (const lane of lanes.values()) {
      const [first, best] = [lane.waiting.peek(), next?.waiting.peek()];
      if (first !== undefined && (best === undefined || comesFirst(first, best)) && fits(lane)) next = lane;
    }
    // A run may wait for several loans. What the first of them gives back is not lent again before it has started.
    const isLoan = next?.waiting.peek()?.item.recall !== undefined;
    return isLoan && [...lanes.values()].some(isAwaited) ? undefined : next;
  };
  const recallOne = (run: ReadyRun, units: Taken): void => {
    recallable.delete(run);
    for (const [pool, count] of units) recalled.set(pool, (recalled.get(pool) ?? 0) + count);
    run.recall?.();
  };
  /** Recalls what the first run of each lane waits for, if it can start then. */
  const recallForWaiting = (): void => {
    for (const lane of lanes.values()) {
      if (!isAwaited(lane)) continue;
      for (const [pool, count] of wanted(lane.units))
        for (const [run, held] of recallable) if (isShort(pool, count) && held.some(([name]) => name === pool)) recallOne(run, held);
    }
  };
  const start = (run: ReadyRun, units: Taken): void => {
    change(units, 1);
    if (run.recall !== undefined) recallable.set(run, units);
    run.start(() => {
      change(units, -1);
      if (run.recall === undefined || recallable.delete(run)) return;
      for (const [pool, count] of units) recalled.set(pool, (recalled.get(pool) ?? 0) - count);
    });
  };
  const startWhatFits = (): void => {
    for (let lane = findNext(); lane !== undefined; lane = findNext()) {
      const run = lane.waiting.take();
      // The capacity may change during the run. The run returns exactly the units that it took.
      if (run !== undefined) start(run, wanted(lane.units));
    }
    if (recallable.size > 0) recallForWaiting();
  };
  running.on('next', startWhatFits);

  return {
    fits: units =>
      Math.min(...Object.entries(units).map(([pool, count]) => (count === 0 ? Infinity : Math.floor(counts.capacityOf(pool) / count)))),
    add: (work, { urgency, units, recall }) =>
      new Promise((resolve, reject) => {
        const begin = (giveBack: () => void): void => {
          running.add(() => work().finally(giveBack)).then(resolve, reject);
        };
        laneOf(units).waiting.add({ urgency, recall, start: begin });
        startWhatFits();
      }),
  };
}
