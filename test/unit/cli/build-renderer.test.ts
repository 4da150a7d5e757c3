/** The display of a running build, on a terminal and elsewhere. */
import { makeBuildRenderer } from '../../../src/cli/render/build-renderer.js';
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

  it('has a line per start, with the first reason and how many more there are', () => {
    expect(screen(started('make'), started('b', ['one', 'two', 'three']), started('c', []))).toEqual([
      '▸ make  params.x: 1 → 2',
      '▸ b     one (and 2 more: tanren explain)',
      '▸ c     it has no result yet',
    ]);
  });

  it('has a line per end, and none for what is up to date', () => {
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

  it('says the first line of a failure: the report at the end has all of them', () => {
    const failure = failureOf({ message: 'exit code 1; it ended with:\nTraceback\nValueError' });
    expect(screen({ kind: 'outcome', stage: id('a'), outcome: { kind: 'failed', failure } })).toEqual([
      '✗ a     failed: exit code 1; it ended with: …',
    ]);
  });

  it('says warnings, further tries and waiting, but no lines of logs, progress or gates', () => {
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
  it('has a live line per running stage under the lines of those that ended', () => {
    const screen = render(makeTextConsole({ live: true, width: 80 }), [
      started('a'),
      started('b'),
      { kind: 'progress', stage: id('b'), done: 3, total: 16, what: 'images' },
      { kind: 'outcome', stage: id('a'), outcome: { kind: 'executed', durationMs: 10 } },
    ]);
    expect(screen[0]).toBe('✓ a     executed in 10 ms');
    expect(screen[1]).toMatch(/^ {2}b {5}\d+ ms {2}3 of 16 images$/);
    expect(screen).toHaveLength(2);
  });

  it('says how long it will still take, where that is known', () => {
    const task = (stage: string, expectedMs: number | undefined) => ({ stage, dependsOn: [], units: { cpu: 1 }, expectedMs });
    const outlook = (expectedMs: number | undefined): BuildEvent => ({
      kind: 'outlook',
      outlook: { tasks: [task('a', 600_000), task('b', expectedMs)], capacity: { cpu: 1 } },
    });
    const screen = (event: BuildEvent): readonly string[] => render(makeTextConsole({ live: true, width: 80 }), [event, started('a')]);
    expect(screen(outlook(60_000))[1]).toBe('  about 11 min left');
    expect(screen(outlook(undefined))).toHaveLength(1);
    expect(render(makeTextConsole(), [outlook(60_000), started('a')])).toHaveLength(1);
  });

  it('takes the live lines away at the end', () => {
    const console = makeTextConsole({ live: true, width: 80 });
    render(console, [started('a'), { kind: 'warning', stage: undefined, code: 'cache-damaged', message: 'x' }]);
    expect(console.screen()).toEqual(['warning[cache-damaged]: x']);
  });

  it('cuts live lines to a narrow terminal, as a wrapped line could not be erased', () => {
    const screen = render(makeTextConsole({ live: true, width: 12 }), [started('a-long-stage-name')]);
    expect(screen).toEqual(['  a-long-st']);
  });

  it('draws no more live lines than a low terminal has, and says how many are left out', () => {
    const screen = render(
      makeTextConsole({ live: true, width: 80, height: 5 }),
      ['a', 'b', 'c', 'd', 'e'].map(name => started(name)),
    );
    expect(screen).toHaveLength(3);
    expect(screen[2]).toBe('  and 3 more');
  });
});
