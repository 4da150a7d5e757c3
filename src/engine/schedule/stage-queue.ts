/** Which ready stage runs next? The most urgent one whose units are free in every pool that it takes from. */
import PQueue from 'p-queue';
import { invariant } from '../../base/invariant.js';

/** Units of each pool that a run takes. */
export type Units = Readonly<Record<string, number>>;

export interface StageQueue {
  /** Runs `work` when its units are free; the higher `urgency` goes first. */
  add<T>(work: () => Promise<T>, options: { readonly urgency: number; readonly units: Units }): Promise<T>;
}

interface Entry {
  readonly run: () => Promise<unknown>;
  readonly urgency: number;
  readonly units: Units;
}

interface QueueOptions {
  readonly urgency?: number;
  readonly units?: Units;
  readonly priority?: number;
  readonly timeout?: number;
}

/** @param capacity units of each pool. A run that asks for more than there are takes them all; a pool that is not named has one unit. */
export function createStageQueue(capacity: Units): StageQueue {
  const taken = new Map<string, number>();
  const capacityOf = (pool: string): number => capacity[pool] ?? 1;
  const wanted = (units: Units): readonly (readonly [string, number])[] =>
    Object.entries(units).map(([pool, count]) => [pool, Math.min(count, capacityOf(pool))] as const);
  const fits = (units: Units): boolean => wanted(units).every(([pool, count]) => (taken.get(pool) ?? 0) + count <= capacityOf(pool));
  const change = (units: Units, sign: 1 | -1): void => {
    for (const [pool, count] of wanted(units)) taken.set(pool, (taken.get(pool) ?? 0) + sign * count);
  };

  /** p-queue's queue: it says that it is empty while nothing fits, so that p-queue waits for the next run to end. */
  class FittingQueue {
    readonly entries: Entry[] = [];

    get size(): number {
      return this.entries.some(entry => fits(entry.units)) ? 1 : 0;
    }

    enqueue(run: Entry['run'], options?: QueueOptions): void {
      const urgency = options?.urgency ?? 0;
      const at = this.entries.findIndex(entry => entry.urgency < urgency);
      this.entries.splice(at < 0 ? this.entries.length : at, 0, { run, urgency, units: options?.units ?? {} });
    }

    dequeue(): Entry['run'] | undefined {
      const at = this.entries.findIndex(entry => fits(entry.units));
      const [entry] = at < 0 ? [] : this.entries.splice(at, 1);
      invariant(entry !== undefined, 'p-queue takes from a queue in which nothing fits');
      change(entry.units, 1);
      return entry.run;
    }

    filter(options: Readonly<Partial<QueueOptions>>): Entry['run'][] {
      return this.entries.filter(entry => entry.urgency === options.urgency).map(entry => entry.run);
    }

    setPriority(): void {
      invariant(false, 'the urgency of a stage does not change');
    }

    remove(): void {
      invariant(false, 'a stage is not taken out of the queue');
    }
  }

  const queue = new PQueue<FittingQueue, QueueOptions>({ queueClass: FittingQueue });
  return {
    async add(work, { urgency, units }) {
      // The units are free again before p-queue looks for the next one.
      const run = () => work().finally(() => change(units, -1));
      return queue.add(run, { urgency, units });
    },
  };
}
