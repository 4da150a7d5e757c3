/** How many units of each pool are taken. */

/** Units of each pool that a run takes. */
export type Units = Readonly<Record<string, number>>;

export type Taken = readonly (readonly [pool: string, units: number])[];

export interface UnitCounts {
  capacityOf(pool: string): number;
  /** What a run takes of the pools: at most all of each. The capacity may change while it runs. */
  wanted(units: Units): Taken;
  free(pool: string): number;
  change(units: Taken, sign: 1 | -1): void;
}

/** @param capacity units of each pool; a pool that is not listed has one unit. */
export function createUnitCounts(capacity: Units): UnitCounts {
  const taken = new Map<string, number>();
  const capacityOf = (pool: string): number => capacity[pool] ?? 1;
  return {
    capacityOf,
    wanted: units => Object.entries(units).map(([pool, count]) => [pool, Math.min(count, capacityOf(pool))] as const),
    free: pool => capacityOf(pool) - (taken.get(pool) ?? 0),
    change(units, sign) {
      for (const [pool, count] of units) taken.set(pool, (taken.get(pool) ?? 0) + sign * count);
    },
  };
}
