/** How many units do the pools of a build have? */
import { availableParallelism, totalmem } from 'node:os';
import type { Plan } from '../model/plan.js';

/** As many as the user says; else as the pipeline says; else a unit per processor. */
export function cpuUnits({ pools }: Pick<Plan, 'pools'>, jobs: number | undefined): number {
  return jobs ?? pools.cpu ?? availableParallelism();
}

/** Every pool; `memory` in bytes: as much as the pipeline says, else as this machine, or the container, has. */
export function poolUnits({ pools }: Pick<Plan, 'pools'>, jobs: number | undefined): Readonly<Record<string, number>> {
  return { ...pools, memory: pools.memory ?? machineMemory(), cpu: cpuUnits({ pools }, jobs) };
}

function machineMemory(): number {
  // 0, or beyond all memory, where nothing constrains the process.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
