/** Waves are convex, and no order has fewer device changes: random graphs against an exhaustive search. */
import * as fc from 'fast-check';
import { mergeGroups } from '../../../src/target/partition/merge.js';
import { costOf, type Flow } from '../../../src/target/partition/part-cost.js';
import { type Adjacency, contract, renumber, sortQuotient } from '../../../src/target/partition/quotient.js';
import { groupInWaves, type WaveOptions } from '../../../src/target/partition/waves.js';
import type { Device } from '../../../src/target/report/compile-report.js';
import { findPartitionProblems } from '../../support/run-parts.js';

interface Placed {
  readonly graph: Adjacency;
  readonly devices: readonly Device[];
}

/** Edges go from smaller to larger positions. */
function placed(most: number): fc.Arbitrary<Placed> {
  return fc.integer({ min: 1, max: most }).chain(count =>
    fc
      .record({
        edges: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 3 * count }),
        coins: fc.array(fc.boolean(), { minLength: count, maxLength: count }),
      })
      .map(({ edges, coins }) => {
        const after = coins.map(() => new Set<number>());
        const before = coins.map(() => new Set<number>());
        for (const [a, b] of edges) {
          if (a === b) continue;
          after[Math.min(a, b)]?.add(Math.max(a, b));
          before[Math.max(a, b)]?.add(Math.min(a, b));
        }
        const sorted = (sets: readonly Set<number>[]) => sets.map(set => [...set].sort((x, y) => x - y));
        return { graph: { before: sorted(before), after: sorted(after) }, devices: coins.map((npu): Device => (npu ? 'npu' : 'cpu')) };
      }),
  );
}

const WAYS: readonly WaveOptions[] = [
  { first: 'npu', direction: 'forward' },
  { first: 'cpu', direction: 'forward' },
  { first: 'npu', direction: 'backward' },
  { first: 'cpu', direction: 'backward' },
];

/** Smallest number of runs of one device over all topological orders, by breadth-first search over sets of done units. */
function fewestRuns({ graph, devices }: Placed): number {
  const all = (1 << devices.length) - 1;
  let states = new Map<string, [number, Device | undefined]>([['0', [0, undefined]]]);
  for (let runs = 0; ; runs++) {
    const next = new Map<string, [number, Device | undefined]>();
    const open = [...states.values()];
    const seen = new Set(states.keys());
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      const [done, last] = state;
      if (done === all) return runs;
      for (const [unit, device] of devices.entries()) {
        if (done & (1 << unit) || (graph.before[unit] ?? []).some(other => !(done & (1 << other)))) continue;
        const reached: [number, Device | undefined] = [done | (1 << unit), device];
        const key = `${reached[0]}${device}`;
        if (device === last) {
          if (!seen.has(key)) open.push(reached);
          seen.add(key);
        } else next.set(key, reached);
      }
    }
    states = next;
  }
}

const flowsOf = ({ graph }: Placed): Flow[] =>
  graph.after.map((readers, unit) => ({ bytes: 100, producer: unit, readers, isOutput: readers.length === 0 }));

describe('waves', () => {
  it('are convex groups of one device, numbered in execution order', () => {
    fc.assert(
      fc.property(placed(24), fc.constantFrom(...WAYS), ({ graph, devices }, way) => {
        const waveOf = groupInWaves(graph, devices, way);
        expect(findPartitionProblems({ units: devices, after: graph.after }, waveOf)).toEqual([]);
        for (const [unit, wave] of waveOf.entries()) {
          const mates = waveOf.flatMap((other, index) => (other === wave ? [devices[index]] : []));
          expect(new Set(mates)).toEqual(new Set([devices[unit]]));
        }
      }),
    );
  });

  it('change devices as rarely as any order of the units, with the better of both starts', () => {
    fc.assert(
      fc.property(placed(9), index => {
        for (const direction of ['forward', 'backward'] as const) {
          const counts = (['npu', 'cpu'] as const).map(
            first => new Set(groupInWaves(index.graph, index.devices, { first, direction })).size,
          );
          expect(Math.min(...counts)).toBe(fewestRuns(index));
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('merged groups', () => {
  it('are convex groups of one device that can run in sequence', () => {
    fc.assert(
      fc.property(placed(24), fc.constantFrom(...WAYS), (index, way) => {
        const waves = renumber(groupInWaves(index.graph, index.devices, way));
        const merged = mergeGroups(index.graph, waves, index.devices, {
          flows: flowsOf(index),
          constants: { fixedMs: 1, bytesPerMs: 1000 },
        });
        if (merged === undefined) throw new Error('so few pieces are merged');
        const order = sortQuotient(contract(index.graph, merged));
        expect(order).toBeDefined();
        const position = merged.map(group => order?.indexOf(group) ?? -1);
        expect(findPartitionProblems({ units: index.devices, after: index.graph.after }, position)).toEqual([]);
        for (const group of new Set(merged)) {
          expect(new Set(merged.flatMap((one, unit) => (one === group ? [index.devices[unit]] : []))).size).toBe(1);
        }
      }),
    );
  });

  it('join units that a wave separates: two branches, one of which waits for the other device', () => {
    // 0 npu → 1 cpu → 2 npu → 3 cpu; 4 npu → 5 cpu is separate: its cpu unit can join either of the other two.
    const graph: Adjacency = { before: [[], [0], [1], [2], [], [4]], after: [[1], [2], [3], [], [5], []] };
    const devices: Device[] = ['npu', 'cpu', 'npu', 'cpu', 'npu', 'cpu'];
    const index = { graph, devices };
    const waves = renumber(groupInWaves(graph, devices, { first: 'npu', direction: 'forward' }));
    const merged = mergeGroups(graph, waves, devices, { flows: flowsOf(index), constants: { fixedMs: 1, bytesPerMs: 1e9 } });
    expect(new Set(merged).size).toBe(4);
  });
});

describe('the cost', () => {
  it('counts a call per part, a write per value that leaves its part, and a read per part that uses it', () => {
    const flows: Flow[] = [
      { bytes: 10, producer: undefined, readers: [0, 1], isOutput: false },
      { bytes: 100, producer: 0, readers: [1, 2, 3], isOutput: false },
      { bytes: 1000, producer: 3, readers: [], isOutput: true },
      { bytes: 9999, producer: 2, readers: [3], isOutput: false },
    ];
    // Parts: {0}, {1}, {2, 3}. Input read twice; 100 written once and read twice; 1000 written; 9999 stays inside.
    expect(costOf([0, 1, 2, 2], flows, { fixedMs: 5, bytesPerMs: 10 })).toBe(3 * 5 + (20 + 300 + 1000) / 10);
  });
});
