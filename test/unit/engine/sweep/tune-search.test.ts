/** The search of `tune`: its order, its end, and what it takes as best. */
import { makeDiagnosticList } from '../../../../src/engine/model/diagnostic.js';
import type { StageId } from '../../../../src/engine/model/plan.js';
import type { Configuration } from '../../../../src/engine/sweep/configurations.js';
import type { Axis } from '../../../../src/engine/sweep/resolve-axis.js';
import type { RowStatus, SweepRow } from '../../../../src/engine/sweep/sweep-rows.js';
import { isBetterRow, parseTuneGate, resolveTuneGoal, type TuneGoal, violationOf } from '../../../../src/engine/sweep/tune-goal.js';
import { searchConfigurations } from '../../../../src/engine/sweep/tune-search.js';

const axis = (param: string, ...labels: readonly string[]): Axis => ({
  name: param,
  kind: 'param',
  param,
  values: labels.map(label => ({ label, value: label })),
});
const AXES = [axis('a', 'a1', 'a2'), axis('b', 'b1', 'b2')];
const GOAL: TuneGoal = {
  gates: [{ metric: 'AP', key: 'e.AP', operator: '>=', bound: 0.5 }],
  objective: { metric: 'ms', key: 'e.ms', goal: 'minimize' },
};

const rowOf = (configuration: Configuration, AP: number, ms: number, status: RowStatus = 'built'): SweepRow => ({
  configuration,
  status,
  figures: new Map([
    ['e.AP', AP],
    ['e.ms', ms],
  ]),
  headlines: new Set(['e.AP', 'e.ms']),
  missed: [],
  sizeBytes: undefined,
  problems: [],
});

/** What each combination gives: [AP, ms]; the others fail. */
const WORLD: Readonly<Record<string, readonly [number, number]>> = {
  '': [0.6, 10],
  'a=a1': [0.4, 1],
  'a=a2': [0.7, 8],
  'a=a2 b=b1': [0.55, 4],
  'b=b1': [0.5, 9],
  'a=a1 b=b2': [0.9, 2],
};

async function search(stopAfter = 99) {
  const order: string[][] = [];
  let built = 0;
  const best = await searchConfigurations({
    axes: AXES,
    isBetter: (one, other) => isBetterRow(GOAL, one, other),
    isOver: () => built >= stopAfter,
    onTrials: () => undefined,
    async build(configurations) {
      const names = configurations.map(({ assignments }) => assignments.join(' '));
      order.push(names);
      built += configurations.length;
      return configurations.map((configuration, index) => {
        const found = WORLD[names[index] ?? ''];
        return found === undefined ? rowOf(configuration, 1, 0, 'failed') : rowOf(configuration, ...found);
      });
    },
  });
  return { order, best: best?.row.configuration.assignments };
}

it('goes along each axis from the best so far, then through the rest, and finds the best of all combinations', async () => {
  const { order, best } = await search();
  expect(order).toEqual([[''], ['a=a1', 'a=a2'], ['a=a2 b=b1', 'a=a2 b=b2'], ['b=b1', 'a=a1 b=b1'], ['b=b2', 'a=a1 b=b2']]);
  expect(best).toEqual(['a=a1', 'b=b2']);
});

it('tries every combination once, those that differ least from the best one first', async () => {
  const axes = [axis('a', 'a1', 'a2'), axis('b', 'b1'), axis('c', 'c1', 'c2')];
  const tried: string[] = [];
  await searchConfigurations({
    axes,
    isBetter: one => one.configuration.assignments.join(' ') === 'a=a1',
    isOver: () => false,
    onTrials: () => undefined,
    async build(configurations) {
      tried.push(...configurations.map(({ assignments }) => assignments.join(' ')));
      return configurations.map(configuration => rowOf(configuration, 1, 1));
    },
  });
  expect(tried).toHaveLength(3 * 2 * 3);
  expect(new Set(tried).size).toBe(tried.length);
  const best = new Set(['a=a1']);
  const distances = tried.slice(-12).map(name => {
    const [set, a] = [name.split(' ').filter(one => one !== ''), name.includes('a=a1') ? 0 : 1];
    return a + set.filter(one => !best.has(one) && !one.startsWith('a=')).length;
  });
  expect(distances).toEqual([...distances].sort((one, other) => one - other));
});

it('keeps the best so far when time is up, and repeats the same order', async () => {
  const { order, best } = await search(3);
  expect(order).toEqual([[''], ['a=a1', 'a=a2']]);
  expect(best).toEqual(['a=a2']);
  expect(await search(3)).toEqual({ order, best });
});

it('what holds the gate is better than any that misses it; of those that miss it, the closest is best', () => {
  const configuration: Configuration = { number: 1, values: [], assignments: [], settings: [] };
  const [holds, near, far] = [rowOf(configuration, 0.5, 9), rowOf(configuration, 0.49, 1), rowOf(configuration, 0.1, 0)];
  expect([isBetterRow(GOAL, holds, near), isBetterRow(GOAL, near, far), isBetterRow(GOAL, far, near)]).toEqual([true, true, false]);
  expect(violationOf({ ...GOAL, gates: [{ metric: 'AP', key: 'e.AP', operator: '>', bound: 0.5 }] }, holds)).toBeGreaterThan(0);
  expect(violationOf({ ...GOAL, gates: [] }, { ...holds, missed: ['e.AP'] })).toBe(1);
});

it('a gate is a metric, an operator and a number; metrics are found by their short names, also below total', () => {
  const diagnostics = makeDiagnosticList();
  expect(parseTuneGate('delta.bbox.AP >= -0.005', diagnostics)).toEqual({ metric: 'delta.bbox.AP', operator: '>=', bound: -0.005 });
  expect(parseTuneGate('size<5', diagnostics)).toEqual({ metric: 'size', operator: '<', bound: 5 });
  expect(parseTuneGate('AP is high', diagnostics)).toBeUndefined();
  expect(diagnostics.items.map(({ code }) => code)).toEqual(['bad-gate']);

  const keys = new Set(['evaluate.delta.bbox.AP', 'compile.total.estimatedMs', 'compile.backbone.estimatedMs']);
  const measured = { keys, stages: ['evaluate', 'compile'] as StageId[], hasSize: false, isAfter: () => false };
  const gate = { metric: 'delta.bbox.AP', operator: '>=', bound: 0 } as const;
  expect(resolveTuneGoal({ gates: [gate], goal: { metric: 'estimatedMs', goal: 'minimize' } }, measured, diagnostics)).toMatchObject({
    gates: [{ key: 'evaluate.delta.bbox.AP' }],
    objective: { key: 'compile.total.estimatedMs' },
  });
  expect(resolveTuneGoal({ gates: [gate], goal: { metric: 'power', goal: 'minimize' } }, measured, diagnostics)).toBeUndefined();
  expect(diagnostics.items.at(-1)?.code).toBe('unknown-metric');
});
