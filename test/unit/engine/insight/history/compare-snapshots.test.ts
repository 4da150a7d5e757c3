/** The reported differences between two snapshots. */
import { formatDifference } from '../../../../../src/cli/render/diff-table.js';
import { compareSnapshots } from '../../../../../src/engine/insight/history/compare-snapshots.js';
import type { RunGate } from '../../../../../src/engine/insight/history/run-record.js';
import type { Snapshot, StageSnapshot } from '../../../../../src/engine/insight/history/snapshot.js';
import { makeTextConsole } from '../../../../support/text-console.js';

const gate = (value: number, bound = 3): RunGate => ({
  stage: 's',
  metric: 'AP',
  operator: '>=',
  bound,
  value,
  verdict: value >= bound ? 'met' : 'missed',
});
const stage = (values: Readonly<Record<string, number>>, parts: Partial<StageSnapshot> = {}): StageSnapshot => ({
  params: { preset: 'a' },
  metrics: { kind: 'known', values },
  gates: [],
  ...parts,
});
const at = (name: string, stages: Readonly<Record<string, StageSnapshot>>, parts: Partial<Snapshot> = {}): Snapshot => ({
  name,
  params: { p: 1 },
  stages: new Map(Object.entries(stages)),
  others: 'absent',
  notes: [],
  ...parts,
});
const show = (
  before: Snapshot,
  after: Snapshot,
  rows: 'changed' | 'all' = 'changed',
  wanted = (_: string): boolean => true,
): readonly string[] => formatDifference(compareSnapshots(before, after, rows, wanted), makeTextConsole());

describe('the difference of two moments', () => {
  it('has params, metrics and gates that changed, stage by stage', () => {
    const before = at('r1', { same: stage({ x: 1 }), s: stage({ AP: 2.5, AR: 4 }, { gates: [gate(2.5)] }) });
    const after = at(
      'now',
      { same: stage({ x: 1 }), s: stage({ AP: 3.25, AR: 4 }, { params: { preset: 'b' }, gates: [gate(3.25)] }) },
      { params: { p: 2 } },
    );
    expect(show(before, after)).toEqual([
      '                r1        now',
      'params',
      '  p             1         2',
      's',
      '  preset        "a"       "b"',
      '  AP            2.5000    3.2500    +0.7500',
      '  gate AP >= 3  ✗ 2.5000  ✓ 3.2500  now met',
    ]);
  });

  it('marks a difference of measured figures that is no larger than both spreads together', () => {
    const side = (name: string, ms: number): Snapshot => at(name, { s: stage({ 'net.ms': ms, 'spread.net.ms': 0.25 }) });
    expect(show(side('r1', 3.25), side('now', 3.75)).at(-1)).toBe('  net.ms  3.2500  3.7500  +0.5000, within the spread');
    expect(show(side('r1', 3.25), side('now', 4.25)).at(-1)).toBe('  net.ms  3.2500  4.2500  +1.0000');
    expect(compareSnapshots(side('r1', 3.25), side('now', 4.25), 'changed', () => true).stages[0]?.metrics).toEqual([
      { metric: 'net.ms', before: 3.25, after: 4.25, spread: 0.5 },
    ]);
  });

  it('has everything with --all, and only the requested stages', () => {
    const side = at('r1', { one: stage({ x: 1 }), two: stage({ x: 2 }) });
    expect(show(side, at('now', { one: stage({ x: 1 }), two: stage({ x: 2 }) }), 'all', name => name === 'two')).toEqual([
      '     r1  now',
      'params',
      '  p  1   1',
      'two',
      '  x  2   2',
    ]);
    expect(show(side, side)).toEqual(['r1 and r1: no difference in params, metrics and gates']);
  });

  it('lists added and removed stages, and stages without known results', () => {
    const [before, after] = [at('r1', { old: stage({ x: 1 }) }), at('now', { young: stage({ x: 2 }) })];
    expect(show(before, after)).toEqual(['     r1  now', 'young (new)', '  x      2', 'old (removed)', '  x  1']);
    expect(show({ ...before, others: 'unknown' }, after)).toContain('  metrics  unknown for r1');
  });

  it('reports unknown metrics as unknown, not as changed', () => {
    const before = at('abc', { s: stage({}, { metrics: { kind: 'unknown' } }) }, { notes: ['a note'] });
    expect(show(before, at('now', { s: stage({ AP: 3 }) }))).toEqual([
      '           abc              now',
      's',
      '  metrics  unknown for abc',
      '',
      'note: a note',
    ]);
  });

  it('shows the bounds of a gate that was moved', () => {
    const [before, after] = [at('r1', { s: stage({}, { gates: [gate(2)] }) }), at('now', { s: stage({}, { gates: [gate(2, 1)] }) })];
    expect(show(before, after)).toContain('  gate AP  ✗ 2 >= 3  ✓ 2 >= 1  now met');
    expect(show(before, at('now', { s: stage({}) }))).toContain('  gate AP >= 3  ✗ 2');
  });
});
