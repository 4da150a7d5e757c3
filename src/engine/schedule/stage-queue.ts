/** The queue of ready stages: the next to run is the most urgent one whose units are free in all its pools. */
import PQueue from 'p-queue';
import { comesFirst, createReadyHeap, type ReadyHeap, type Waiting } from './ready-heap.js';

/** Units of each pool that a run takes. */
export type Units = Readonly<Record<string, number>>;

export interface StageQueue {
  /** Runs `work` when its units are free. Higher `urgency` goes first. */
  add<T>(work: () => Promise<T>, options: { readonly urgency: number; readonly units: Units }): Promise<T>;
}

interface ReadyRun extends Waiting {
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
  const startWhatFits = (): void => {
    for (let lane = findNext(); lane !== undefined; lane = findNext()) {
      // The capacity may change during the run. The run returns exactly the units that it took.
      const units = wanted(lane.units);
      change(units, 1);
      lane.waiting.take()?.start(() => change(units, -1));
    }
  };
  running.on('next', startWhatFits);

  return {
    add: (work, { urgency, units }) =>
      new Promise((resolve, reject) => {
        const start = (giveBack: () => void): void => {
          running.add(() => work().finally(giveBack)).then(resolve, reject);
        };
        laneOf(units).waiting.add({ urgency, start });
        startWhatFits();
      }),
  };
}
