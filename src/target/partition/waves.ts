/** Groups units in waves with few device changes: everything that is ready for one device, then everything for the other. */
import type { Device } from '../report/compile-report.js';
import type { Adjacency } from './quotient.js';

export interface WaveOptions {
  readonly first: Device;
  /** 'forward': from the inputs, each unit as early as possible; 'backward': from the outputs, as late as possible. */
  readonly direction: 'forward' | 'backward';
}

/**
 * The wave of each unit. A wave has units of one device. It is contiguous in a topological order, so it is convex, and it depends only on earlier waves.
 * With the better choice of `first`, no partition has fewer device changes: each unit is in the first wave of its device that its inputs allow.
 */
export function groupInWaves(units: Adjacency, devices: readonly Device[], { first, direction }: WaveOptions): readonly number[] {
  const [needs, feeds] = direction === 'forward' ? [units.before, units.after] : [units.after, units.before];
  const waiting = needs.map(list => list.length);
  const ready: Record<Device, number[]> = { npu: [], cpu: [] };
  const release = (unit: number): void => {
    ready[devices[unit] ?? 'cpu'].push(unit);
  };
  for (const [unit, count] of waiting.entries()) if (count === 0) release(unit);
  const waveOf: number[] = devices.map(() => 0);
  let [device, wave] = [first, 0];
  while (ready.npu.length + ready.cpu.length > 0) {
    for (let unit = ready[device].pop(); unit !== undefined; unit = ready[device].pop()) {
      waveOf[unit] = wave;
      for (const next of feeds[unit] ?? []) {
        waiting[next] = (waiting[next] ?? 0) - 1;
        if (waiting[next] === 0) release(next);
      }
    }
    device = device === 'npu' ? 'cpu' : 'npu';
    wave++;
  }
  return direction === 'forward' ? waveOf : waveOf.map(own => wave - 1 - own);
}
