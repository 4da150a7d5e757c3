/** The list of runs: what tells them apart, chosen figures, and the width of the terminal. */
import { formatRunList } from '../../../src/cli/render/run-list.js';
import { displayWidth } from '../../../src/cli/terminal/display-width.js';
import { findColumns } from '../../../src/engine/insight/history/find-columns.js';
import { listRunChanges } from '../../../src/engine/insight/history/run-changes.js';
import type { RunRecord } from '../../../src/engine/insight/history/run-record.js';
import { makeTextConsole } from '../../support/text-console.js';

const runOf = (number: number, parts: Partial<RunRecord> = {}): RunRecord => ({
  run: `r${number}`,
  started: '2026-11-21T13:40:02.000Z',
  durationMs: 151,
  asked: { targets: [], params: [], force: false, keepGoing: false, jobs: 2 },
  params: { preset: 'xint8' },
  conclusion: 'built',
  stages: [],
  upToDate: 2,
  gates: [],
  criticalPath: [],
  ...parts,
});
const judged = (stage: string, AP: number): RunRecord['stages'][number] => ({ stage, outcome: 'executed', metrics: { 'bbox.AP': AP } });

describe('the changes of a run since the run before it', () => {
  it('are parameters of the file, and of the command line last', () => {
    const before = runOf(1);
    const asked = { ...before.asked, params: ['preset=a8w8'] };
    expect(listRunChanges(runOf(2, { params: { preset: 'a8w8' } }), before)).toEqual(['preset=a8w8']);
    expect(listRunChanges(runOf(2, { params: { preset: 'a8w8', size: [1, 2] }, asked }), before)).toEqual(['size=[1,2]', '-p preset=a8w8']);
    expect(listRunChanges(runOf(2, { params: {} }), before)).toEqual(['preset=(removed)']);
  });

  it('are reasons of stages, each once, and none that another stage of the run gives', () => {
    const stages = [
      { stage: 'a@x', outcome: 'executed', reasons: ["the plugin's code changed"] },
      { stage: 'a@y', outcome: 'executed', reasons: ["the plugin's code changed", 'source in.txt changed'] },
      { stage: 'b', outcome: 'executed', reasons: ['a@x.model changed', 'params.range: "min-max" → "mse"'] },
      { stage: 'page', outcome: 'executed', reasons: ['the state of b changed'] },
    ] as const;
    const told = ["the plugin's code changed", 'source in.txt changed'];
    expect(listRunChanges(runOf(2, { stages }), runOf(1))).toEqual([...told, 'b: range: "min-max" → "mse"']);
    // Settings that follow a parameter are not told again.
    expect(listRunChanges(runOf(2, { stages, params: { preset: 'a8w8' } }), runOf(1))).toEqual(['preset=a8w8', ...told]);
  });
});

describe('the list of runs', () => {
  const revision = { commit: '3f2ab1c'.padEnd(40, '0'), branch: 'main' };
  const runs = [
    { run: runOf(1, { stages: [judged('int8', 0.25)], revision }), changes: ['never built'] },
    {
      run: runOf(12, { stages: [judged('int8', 0.5)], revision: { ...revision, edited: true }, conclusion: 'gate-missed' }),
      changes: ['preset=a8w8', 'b', 'c', 'd', 'e', 'f'],
    },
  ];

  it('has figures as columns, a mark of edited files, and at most four changes', () => {
    const columns = findColumns(
      ['bbox.AP'],
      runs.map(({ run }) => run),
    );
    const [head, first, second, note] = formatRunList(runs, columns, makeTextConsole());
    expect(head).toMatch(/^run +date +result +bbox\.AP$/);
    expect(first).toMatch(/^r1 .* built: 1 executed, 2 up to date \(151 ms\) +0\.2500 +at 3f2ab1c \(main\) +never built$/);
    expect(second).toMatch(/ 0\.5000 +at 3f2ab1c\+ \(main\) +preset=a8w8 {2}b {2}c {2}d {2}and 2 more$/);
    expect(note).toBe('+: files of the project had been edited since that commit');
  });

  it('fits the terminal', () => {
    const lines = formatRunList(runs, [], makeTextConsole({ live: true, width: 60 }));
    expect(lines[1]).toMatch(/^r12 +11-21 \d\d:40 +gate missed: 1 ran +3f2ab1c\+ +preset=a8w8…$/);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(60);
  });

  it('names a metric by its stage if several stages have it', () => {
    const known = [runOf(1, { stages: [judged('float', 0.5), judged('int8', 0.25)] }), runOf(2)];
    expect(findColumns(['int8.bbox.AP'], known).map(({ of }) => known.map(of))).toEqual([[0.25, undefined]]);
    expect(() => findColumns(['bbox.AP'], known)).toThrow('several stages have a metric "bbox.AP"');
  });
});
