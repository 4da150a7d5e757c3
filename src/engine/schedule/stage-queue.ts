/** The queue of ready stages: the next to run is the most urgent one whose units are free in all its pools. */
import PQueue from 'p-queue';
import { comesFirst, createReadyHeap, type ReadyHeap, type Waiting } from './ready-heap.js';

/** Units of each pool that a run takes. */
export type Units = Readonly<Record<string, number>>;

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

type Taken = readonly (readonly [pool: string, units: number])[];

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
  const taken = new Map<string, number>();
  const lanes = new Map<string, Lane>();
  const capacityOf = (pool: string): number => capacity[pool] ?? 1;
  const wanted = (units: Units): Taken => Object.entries(units).map(([pool, count]) => [pool, Math.min(count, capacityOf(pool))] as const);
  const fits = ({ units }: Lane): boolean => wanted(units).every(([pool, count]) => (taken.get(pool) ?? 0) + count <= capacityOf(pool));
  const change = (units: Taken, sign: 1 | -1): void => {
    for (const [pool, count] of units) taken.set(pool, (taken.get(pool) ?? 0) + sign * count);
  };
  /** Runs that can be recalled, and their units. */
  const recallable = new Map<ReadyRun, Taken>();
  /** Units that recalled runs have not given back yet. */
  const recalled = new Map<string, number>();
  const isShort = (pool: string, count: number): boolean => (taken.get(pool) ?? 0) - (recalled.get(pool) ?? 0) + count > capacityOf(pool);

  let asked = 0;
  const laneOf = (units: Units): Lane => {
    const name = JSON.stringify(Object.entries(units).sort());
    const lane = lanes.get(name) ?? { units, waiting: createReadyHeap<ReadyRun>(() => asked++) };
    lanes.set(name, lane);
    return lane;
  };
  const findNext = (): Lane | undefined => {
    let next: Lane | undefined;
    for (const lane of lanes.values()) {
      const [first, best] = [lane.waiting.peek(), next?.waiting.peek()];
      if (first !== undefined && (best === undefined || comesFirst(first, best)) && fits(lane)) next = lane;
    }
    return next;
  };
  const recallOne = (run: ReadyRun, units: Taken): void => {
    recallable.delete(run);
    for (const [pool, count] of units) recalled.set(pool, (recalled.get(pool) ?? 0) + count);
    run.recall?.();
  };
  const recallableUnits = (pool: string): number =>
    [...recallable.values()].flat().reduce((sum, [name, count]) => (name === pool ? sum + count : sum), 0);
  /** Recalls what the first run of each lane waits for, if it can start then. */
  const recallForWaiting = (): void => {
    for (const { units, waiting } of lanes.values()) {
      const first = waiting.peek()?.item;
      if (first === undefined || first.recall !== undefined) continue;
      if (wanted(units).some(([pool, count]) => isShort(pool, count - recallableUnits(pool)))) continue;
      for (const [pool, count] of wanted(units))
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
      Math.min(...Object.entries(units).map(([pool, count]) => (count === 0 ? Infinity : Math.floor(capacityOf(pool) / count)))),
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
