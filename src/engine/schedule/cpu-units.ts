/** The capacity of a build's pools. */
import { availableParallelism, totalmem } from 'node:os';
import type { Plan } from '../model/plan.js';

/** Returns the number that the user gave, else that of the pipeline, else one unit per processor. */
export function cpuUnits({ pools }: Pick<Plan, 'pools'>, jobs: number | undefined): number {
  return jobs ?? pools.cpu ?? availableParallelism();
}

/** Actions that remote workers run at once, unless the pool `remote` or the user says another number. */
const REMOTE_UNITS = 100;

/** Returns the number of actions that remote workers run at once. */
export function remoteUnits({ pools }: Pick<Plan, 'pools'>, asked: number | undefined): number {
  return asked ?? pools.remote ?? REMOTE_UNITS;
}

/** Returns the units of every pool. `memory` is in bytes: as the pipeline says, else the memory of this machine or container. */
export function poolUnits({ pools }: Pick<Plan, 'pools'>, jobs: number | undefined, remoteJobs?: number): Readonly<Record<string, number>> {
  return { ...pools, memory: pools.memory ?? machineMemory(), cpu: cpuUnits({ pools }, jobs), remote: remoteUnits({ pools }, remoteJobs) };
}

function machineMemory(): number {
  // The limit is 0, or larger than the total memory, if nothing constrains the process.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
