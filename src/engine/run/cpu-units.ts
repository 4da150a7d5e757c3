/** How many units does the cpu pool of a build have? */
import { availableParallelism } from 'node:os';
import type { Plan } from '../plan/plan.js';

/** As many as the user says; else as the pipeline says; else a unit per processor. */
export function cpuUnits({ pools }: Plan, jobs: number | undefined): number {
  return jobs ?? pools.cpu ?? availableParallelism();
}
