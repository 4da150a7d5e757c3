/** Splits waves into connected groups and merges groups of one device, the best pair first, as long as every group stays convex. */
import type { Device } from '../report/compile-report.js';
import type { CostConstants, Flow } from './part-cost.js';
import { type Adjacency, contract, findReach, hasBit, renumber, sortQuotient } from './quotient.js';

/** With more groups, merging is skipped and the waves are kept: the work grows with the cube of the number. */
export const MAX_GROUPS = 256;

/** Splits waves into connected groups and merges those that reduce the cost. Undefined for more than `MAX_GROUPS` groups. */
export function mergeGroups(
  units: Adjacency,
  waveOf: readonly number[],
  devices: readonly Device[],
  { flows, constants }: { readonly flows: readonly Flow[]; readonly constants: CostConstants },
): readonly number[] | undefined {
  let groupOf = splitIntoGroups(units, waveOf);
  if (Math.max(...groupOf, 0) >= MAX_GROUPS) return undefined;
  for (let pair = findBestPair(units, groupOf, devices, flows, constants); pair !== undefined; ) {
    const [kept, merged] = pair;
    groupOf = renumber(groupOf.map(group => (group === merged ? kept : group)));
    pair = findBestPair(units, groupOf, devices, flows, constants);
  }
  return groupOf;
}

/** Groups of units of one wave that are connected inside it. */
function splitIntoGroups(units: Adjacency, waveOf: readonly number[]): readonly number[] {
  const groupOf = waveOf.map(() => -1);
  let groups = 0;
  for (const start of waveOf.keys()) {
    if (groupOf[start] !== -1) continue;
    const pending = [start];
    groupOf[start] = groups;
    for (let unit = pending.pop(); unit !== undefined; unit = pending.pop()) {
      for (const other of [...(units.before[unit] ?? []), ...(units.after[unit] ?? [])]) {
        if (waveOf[other] !== waveOf[start] || groupOf[other] !== -1) continue;
        groupOf[other] = groups;
        pending.push(other);
      }
    }
    groups++;
  }
  return groupOf;
}

/** The pair with the largest gain, the first one of equal pairs. Every merge saves a call, so every allowed one gains. */
function findBestPair(
  units: Adjacency,
  groupOf: readonly number[],
  devices: readonly Device[],
  flows: readonly Flow[],
  constants: CostConstants,
): readonly [number, number] | undefined {
  const quotient = contract(units, groupOf);
  const order = sortQuotient(quotient);
  if (order === undefined) return undefined;
  const reach = findReach(quotient, order);
  const count = quotient.before.length;
  const deviceOf = new Map(groupOf.map((group, unit) => [group, devices[unit]] as const));
  const saved = savedBytes(groupOf, flows, count);
  let best: readonly [number, number] | undefined;
  let bestGain = 0;
  for (let a = 0; a < count; a++) {
    for (let b = a + 1; b < count; b++) {
      if (deviceOf.get(a) !== deviceOf.get(b)) continue;
      const gain = constants.fixedMs + (saved.get(a * count + b) ?? 0) / constants.bytesPerMs;
      if (gain <= bestGain || !canMerge(quotient, reach, a, b)) continue;
      [best, bestGain] = [[a, b], gain];
    }
  }
  return best;
}

/** Whether the only path between the two is the direct edge. */
function canMerge(quotient: Adjacency, reach: readonly Uint32Array[], a: number, b: number): boolean {
  const detour = (from: number, to: number): boolean => (quotient.after[from] ?? []).some(next => next !== to && hasBit(reach[next], to));
  return !detour(a, b) && !detour(b, a);
}

/** Transferred bytes saved by merging two groups a < b, by key a · count + b. */
function savedBytes(groupOf: readonly number[], flows: readonly Flow[], count: number): ReadonlyMap<number, number> {
  const saved = new Map<number, number>();
  for (const { bytes, producer, readers, isOutput } of flows) {
    const own = producer === undefined ? undefined : groupOf[producer];
    const reading = [...new Set(readers.map(reader => groupOf[reader] ?? 0))].filter(group => group !== own);
    const touching = own === undefined ? reading : [own, ...reading];
    for (const [index, one] of touching.entries()) {
      for (const other of touching.slice(index + 1)) {
        const all = own !== undefined && reading.length === 1 && !isOutput ? 2 : 1;
        const key = Math.min(one, other) * count + Math.max(one, other);
        saved.set(key, (saved.get(key) ?? 0) + all * bytes);
      }
    }
  }
  return saved;
}
