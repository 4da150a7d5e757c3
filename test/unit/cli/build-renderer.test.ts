/** The display of a running build, on a terminal and elsewhere. */
import { lineOf } from '../../../src/cli/render/build-lines.js';
import { makeBuildRenderer } from '../../../src/cli/render/build-renderer.js';
import { makeStageList } from '../../../src/cli/render/stage-list.js';
import type { BuildEvent } from '../../../src/engine/model/events.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { failureOf } from '../../support/report-of.js';
import { makeTextConsole, type TextConsole } from '../../support/text-console.js';

const id = (text: string): StageId => text as StageId;
const started = (stage: string, reasons: readonly string[] = ['params.x: 1 → 2'], attempt = 1): BuildEvent => ({
  kind: 'stage-started',
  stage: id(stage),
  reasons,
  attempt,
});

function render(console: TextConsole, events: readonly BuildEvent[]): readonly string[] {
  const renderer = makeBuildRenderer(console, 4);
  for (const event of events) renderer.emit(event);
  const seen = console.screen();
  renderer.end();
  return seen;
}

describe('a build that is not on a terminal', () => {
  const screen = (...events: BuildEvent[]): readonly string[] => render(makeTextConsole(), events);

  it('prints one line per started stage, with the first reason and the number of other reasons', () => {
    expect(screen(started('make'), started('b', ['one', 'two', 'three']), started('c', []))).toEqual([
      '▸ make  params.x: 1 → 2',
      '▸ b     one (and 2 more: tanren explain)',
      '▸ c     no result yet',
    ]);
  });

  it('prints one line per ended stage, and none for stages that are up to date', () => {
    expect(
      screen(
        { kind: 'outcome', stage: id('a'), outcome: { kind: 'executed', durationMs: 1500 } },
        { kind: 'outcome', stage: id('b'), outcome: { kind: 'restored', sizeBytes: 2048 } },
        { kind: 'outcome', stage: id('c'), outcome: { kind: 'up-to-date' } },
        { kind: 'outcome', stage: id('d'), outcome: { kind: 'skipped', because: id('a') } },
        { kind: 'outcome', stage: id('e'), outcome: { kind: 'cancelled' } },
      ),
    ).toEqual(['✓ a     executed in 1.5 s', '↺ b     restored 2.0 kB from the cache', '– d     skipped: a failed', '– e     cancelled']);
  });

  it('prints only the first line of a failure, because the report at the end prints all lines', () => {
    const failure = failureOf({ message: 'exit code 1; it ended with:\nTraceback\nValueError' });
    expect(screen({ kind: 'outcome', stage: id('a'), outcome: { kind: 'failed', failure } })).toEqual([
      '✗ a     failed: exit code 1; it ended with: …',
    ]);
  });

  it('repeats two warnings of each stage where many lines followed, and names the log with the others', () => {
    const renderer = makeBuildRenderer(makeTextConsole(), 4);
    const warn = (stage: StageId | undefined, message: string): void =>
      renderer.emit({ kind: 'warning', stage, code: 'stage-warning', message });
    for (const name of ['one', 'two', 'three', 'four']) warn(id('a'), name);
    expect(renderer.warnings()).toEqual([]);
    for (let line = 0; line < 20; line++) renderer.emit(started(`s${line}`));
    warn(id('b'), 'alone');
    renderer.end();
    expect(renderer.warnings().map(line => line.replace(/^warning\[stage-warning\]: /, ''))).toEqual([
      'a: one',
      'a: two',
      '  2 more warnings of a: tanren log a',
      'b: alone',
    ]);
  });

  it('prints warnings, retries and waits, but no log lines, progress or gates', () => {
    expect(
      screen(
        { kind: 'waiting-for-lock', folder: '/p/cache', holder: undefined },
        started('a'),
        { kind: 'log', stage: id('a'), level: 'info', message: 'hidden' },
        { kind: 'progress', stage: id('a'), done: 1, total: 2, what: 'images' },
        { kind: 'warning', stage: id('a'), code: 'stage-warning', message: 'careful' },
        { kind: 'warning', stage: undefined, code: 'state-damaged', message: 'two lines' },
        { kind: 'retrying', stage: id('a'), message: 'busy\nall of it', inMs: 2000 },
        started('a', ['forced'], 2),
      ),
    ).toEqual([
      'waiting for another build that uses /p/cache',
      '▸ a     params.x: 1 → 2',
      'warning[stage-warning]: a: careful',
      'warning[state-damaged]: two lines',
      '↻ a     busy …; next try in 2.0 s',
      '▸ a     try 2; forced',
    ]);
  });
});

describe('a build on a terminal', () => {
  it('shows one live line per running stage below the lines of ended stages', () => {
    const screen = render(makeTextConsole({ live: true, width: 80 }), [
      started('a'),
      started('b'),
      { kind: 'progress', stage: id('b'), done: 3, total: 16, what: 'images' },
      { kind: 'outcome', stage: id('a'), outcome: { kind: 'executed', durationMs: 10 } },
    ]);
    expect(screen[0]).toBe('✓ a     executed in 10 ms');
    expect(screen[1]).toMatch(/^ {2}b {5}\d+ s {2}3 of 16 images$/);
    expect(screen).toHaveLength(2);
  });

  it('shows how many stages are done, and the estimated remaining time if it is known', () => {
    const task = (stage: string, expectedMs: number | undefined) => ({ stage, dependsOn: [], units: { cpu: 1 }, expectedMs });
    const outlook = (expectedMs: number | undefined): BuildEvent => ({
      kind: 'outlook',
      outlook: { tasks: [task('a', 600_000), task('b', expectedMs)], capacity: { cpu: 1 } },
    });
    const screen = (event: BuildEvent): readonly string[] => render(makeTextConsole({ live: true, width: 80 }), [event, started('a')]);
    expect(screen(outlook(60_000))[1]).toBe('  0 of 2 stages done; about 11 min left');
    expect(screen(outlook(undefined))[1]).toBe('  0 of 2 stages done');
    expect(render(makeTextConsole(), [outlook(60_000), started('a')])).toHaveLength(1);
  });

  it('an ended stage states how many of those that may have to run have ended, on any output', () => {
    const task = (stage: string) => ({ stage, dependsOn: [], units: { cpu: 1 }, expectedMs: undefined });
    const events: readonly BuildEvent[] = [
      { kind: 'outlook', outlook: { tasks: [task('a'), task('b'), task('c')], capacity: { cpu: 1 } } },
      { kind: 'outcome', stage: id('up'), outcome: { kind: 'up-to-date' } },
      { kind: 'outcome', stage: id('a'), outcome: { kind: 'up-to-date' } },
      { kind: 'outcome', stage: id('b'), outcome: { kind: 'executed', durationMs: 10 } },
      { kind: 'outcome', stage: id('c'), outcome: { kind: 'cancelled' } },
    ];
    for (const console of [makeTextConsole(), makeTextConsole({ live: true, width: 80 })])
      expect(render(console, events)).toEqual(['✓ b     executed in 10 ms  [2/3]', '– c     cancelled  [3/3]']);
  });

  it('removes the live lines at the end', () => {
    const console = makeTextConsole({ live: true, width: 80 });
    render(console, [started('a'), { kind: 'warning', stage: undefined, code: 'cache-damaged', message: 'x' }]);
    expect(console.screen()).toEqual(['warning[cache-damaged]: x']);
  });

  it("truncates live lines to the terminal's width, because a wrapped line could not be erased", () => {
    const screen = render(makeTextConsole({ live: true, width: 12 }), [
      started('a-long-stage-name'),
      { kind: 'progress', stage: id('a-long-stage-name'), done: 3, total: 16, what: 'images' },
    ]);
    expect(screen).toEqual(['  a-l…  0 s']);
  });

  it('draws at most as many live lines as the terminal has rows, and counts the omitted ones', () => {
    const screen = render(
      makeTextConsole({ live: true, width: 80, height: 5 }),
      ['a', 'b', 'c', 'd', 'e'].map(name => started(name)),
    );
    expect(screen).toHaveLength(3);
    expect(screen[2]).toBe('  and 3 more');
  });
});

describe('a round of watch on a terminal', () => {
  const task = (stage: string) => ({ stage, dependsOn: [], units: { cpu: 1 }, expectedMs: undefined });
  const outlook = (...stages: readonly string[]): BuildEvent => ({
    kind: 'outlook',
    outlook: { tasks: stages.map(task), capacity: { cpu: 1 } },
  });
  const ended = (
    stage: string,
    outcome: Extract<BuildEvent, { kind: 'outcome' }>['outcome'] = { kind: 'executed', durationMs: 10 },
  ): BuildEvent => ({
    kind: 'outcome',
    stage: id(stage),
    outcome,
  });
  /** The list after some events, and what is left at the end. */
  const list = (events: readonly BuildEvent[], height = 24) => {
    const console = makeTextConsole({ live: true, width: 80, height });
    const rows = makeStageList(4);
    for (const event of events) rows.update(event, lineOf(event, 4, console), 0);
    return { lines: rows.lines(height, 3000), ended: rows.ended() };
  };

  it('lists what ended, what runs and why or how far, and what waits; and leaves out what is up to date', () => {
    const { lines, ended: left } = list([
      outlook('a', 'b', 'c', 'd', 'e'),
      started('a'),
      ended('a'),
      ended('b', { kind: 'up-to-date' }),
      started('c'),
      started('d'),
      { kind: 'progress', stage: id('d'), done: 3, total: 16, what: 'images' },
    ]);
    expect(lines).toEqual([
      '  ✓ a     executed in 10 ms',
      '  ▸ c     3 s  params.x: 1 → 2',
      '  ▸ d     3 s  3 of 16 images',
      '  · e     waits',
    ]);
    expect(left).toEqual(['✓ a     executed in 10 ms']);
  });

  it('keeps failed and running stages where the terminal is too low, and counts the others', () => {
    const failure = failureOf({ message: 'exit code 1' });
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const events = [outlook(...names), started('a'), ended('a'), ended('b'), ended('c', { kind: 'failed', failure }), started('d')];
    expect(list(events, 5).lines).toEqual([
      '  ✓ 2 ended',
      '  ✗ c     failed: exit code 1',
      '  ▸ d     3 s  params.x: 1 → 2',
      '  · e     waits',
      '  … and 3 more',
    ]);
    for (const height of [1, 2, 3, 4, 5, 6, 7, 8]) expect(list(events, height).lines.length).toBeLessThanOrEqual(height);
    expect(list([outlook(...names), ...names.map(name => started(name))], 3).lines).toEqual([
      '  ▸ a     3 s  params.x: 1 → 2',
      '  ▸ b     3 s  params.x: 1 → 2',
      '  … and 6 more',
    ]);
  });

  it('follows a newer plan: stopped stages wait again, stages that still run stay, and removed ones go', () => {
    const { lines } = list([
      outlook('a', 'b', 'c'),
      started('a'),
      started('b'),
      { kind: 'run-outdated', stage: id('a'), because: 'params.x: 1 → 2' },
      outlook('a', 'd'),
    ]);
    expect(lines).toEqual(['  · a     waits', '  · d     waits', '  ▸ b     3 s  params.x: 1 → 2']);
  });

  it('draws the list, prints warnings above it, and keeps the lines of ended stages in its order', () => {
    const console = makeTextConsole({ live: true, width: 80 });
    const renderer = makeBuildRenderer(console, 4, 'list');
    renderer.emit(outlook('a', 'b', 'c'));
    renderer.emit(started('b'));
    renderer.emit({ kind: 'warning', stage: id('b'), code: 'stage-warning', message: 'careful' });
    expect(console.screen().map(line => line.replace(/\d+ s /, 'N s '))).toEqual([
      'warning[stage-warning]: b: careful',
      '  · a     waits',
      '  ▸ b     N s  params.x: 1 → 2',
      '  · c     waits',
      '  0 of 3 stages done',
    ]);
    renderer.emit(ended('b'));
    renderer.emit(ended('a'));
    renderer.end();
    expect(console.screen()).toEqual(['warning[stage-warning]: b: careful', '✓ a     executed in 10 ms', '✓ b     executed in 10 ms']);
  });

  it('elsewhere has a line per event, as a build has', () => {
    const events = [outlook('a'), started('a'), ended('a')];
    const console = makeTextConsole();
    const renderer = makeBuildRenderer(console, 4, 'list');
    for (const event of events) renderer.emit(event);
    renderer.end();
    expect(console.screen()).toEqual(render(makeTextConsole(), events));
  });
});
