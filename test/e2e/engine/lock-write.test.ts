/** When a build writes the lock, what it enters, and what it leaves alone. */
import { existsSync, lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLockFile } from '../../../src/engine/lockfile/lock-file.js';
import { lockFileOf } from '../../../src/engine/lockfile/lock-path.js';
import { LockRefused } from '../../../src/engine/lockfile/lock-refused.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { gate } from '../../support/plan-of.js';
import type { World } from '../../support/world.js';
import { givenWorld, untilSettled } from '../../support/world.js';

const STAGES = {
  strip: { uses: 'plain', inputs: { text: 'source.txt' } },
  model: { uses: 'perClass', inputs: { text: 'strip.text' } },
  after: { uses: 'plain', params: { add: '!' }, inputs: { text: 'model.text' } },
  bench: { uses: 'measured', inputs: { text: 'after.text' } },
  score: { uses: 'scored', inputs: { text: 'side.txt' } },
};
const SOURCES = { 'source.txt': 'one\n# comment\ntwo', 'side.txt': 'other' };

let world: World;
beforeEach(() => {
  world = givenWorld(STAGES, SOURCES);
});
afterEach(() => world.remove());

const lock = () => lockFileOf('pipeline.yaml', world.folder);
const build = (options: Parameters<World['build']>[0] = {}) => world.build({ lock: { file: lock(), use: 'write' }, ...options });
const text = (): string => world.read('pipeline.lock');
const stages = (): readonly string[] => [...(readLockFile(lock())?.lock.stages.keys() ?? [])];
const ids = (...names: string[]): StageId[] => names as StageId[];

/** The lines of one stage. */
function entry(id: string): string {
  return text().split(`\n  ${id}:\n`)[1]?.split('\n\n')[0] ?? '';
}

describe('a build with every gate met', () => {
  it('writes the lock: outputs once if they are equal everywhere, per class if models are run, none for measurements', async () => {
    await build();

    expect(stages()).toEqual(['after', 'bench', 'model', 'score', 'strip']);
    expect(entry('strip')).toMatch(/\n {4}outputs:\n {6}text: file [0-9a-f]{64}$/);
    expect(entry('model')).toMatch(/\n {4}classes:\n {6}class-1:\n {8}outputs:\n {10}text: file [0-9a-f]{64}$/);
    expect(entry('after')).toMatch(
      /inputs:\n {6}text: model\.text\n {4}classes:\n {6}class-1:\n {8}inputs:\n {10}text: file [0-9a-f]{64}\n {8}outputs:/,
    );
    expect(entry('bench')).toMatch(/inputs:\n {6}text: after\.text\n {4}outputs: measured$/);
  });

  it('writes the same bytes in another folder, without dates, paths or the host', async () => {
    await build();
    const other = givenWorld(STAGES, SOURCES);
    await other.build({ lock: { file: lockFileOf('pipeline.yaml', other.folder), use: 'write' }, jobs: 1 });

    expect(other.read('pipeline.lock')).toBe(text());
    expect(text()).not.toContain(world.folder);
    expect(text()).not.toMatch(/20\d\d-/);
    other.remove();
  });

  it('writes it readable for everyone, and leaves no temporary file', async () => {
    await build();

    expect(statSync(world.path('pipeline.lock')).mode & 0o444).toBe(0o444 & ~process.umask());
    expect(existsSync(world.path('.pipeline.lock.tmp'))).toBe(false);
  });

  it('does not write it again if it is correct', async () => {
    await build();
    const before = stamp();
    await build();
    world.write('source.txt', 'one\n# another comment\ntwo');
    world.write('source.txt', SOURCES['source.txt']);
    await build();

    expect(stamp()).toBe(before);
  });

  it("keeps a correct lock with the system's line endings, and writes nothing if there is nothing to do", async () => {
    await untilSettled(world, build);
    world.write('pipeline.lock', text().replaceAll('\n', '\r\n'));
    const before = stamp();
    const { outcomes } = await build();

    expect(new Set(Object.values(outcomes))).toEqual(new Set(['up-to-date']));
    expect(stamp()).toBe(before);
    expect(existsSync(world.path('cache/lock'))).toBe(false);
  });

  it('writes it again if it was deleted or edited', async () => {
    await build();
    const right = text();
    rmSync(world.path('pipeline.lock'));
    await build();
    expect(text()).toBe(right);

    world.write('pipeline.lock', right.replace(/file [0-9a-f]{64}/, `file ${'0'.repeat(64)}`));
    await build();
    expect(text()).toBe(right);
  });

  it('records the present input of a stage, even if it reads the same bytes from another stage', async () => {
    const bench = { uses: 'measured', inputs: { text: 'source.txt' } };
    const reader = (from: string) => ({ uses: 'plain', inputs: { text: from } });
    world.stages = { one: bench, other: bench, reader: reader('one.text') };
    await build();
    world.stages = { one: bench, other: bench, reader: reader('other.text') };
    const { outcomes } = await build();

    expect(outcomes.reader).toBe('up-to-date');
    expect(entry('reader')).toContain('text: other.text');
  });

  it('adds entries missing after a build that did not write the lock (watch, or a killed build)', async () => {
    await build();
    const first = text();
    world.append('source.txt', '\nthree');
    await world.build();
    expect(text()).toBe(first);

    const { outcomes } = await build();
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['up-to-date']));
    expect(text()).not.toBe(first);
    const second = stamp();
    await build();
    expect(stamp()).toBe(second);
  });
});

describe('a build of targets', () => {
  it('adds its own entries, and keeps all others, including removed stages', async () => {
    await build();
    const [score, after] = [entry('score'), entry('after')];
    world.append('source.txt', '\nthree');
    world.append('side.txt', '\nmore');
    const { bench: _, ...others } = STAGES;
    world.stages = others;
    await build({ targets: ids('after') });

    expect(entry('score')).toBe(score);
    expect(entry('after')).not.toBe(after);
    expect(stages()).toContain('bench');
  });

  it('of all remaining stages keeps the entry of a removed stage: the next full build removes it, although nothing runs', async () => {
    await build();
    const { strip, model } = STAGES;
    world.write('source.txt', 'three');
    await build({ targets: ids('strip', 'model') });
    world.stages = { strip, model };
    const { outcomes } = await build();

    expect(outcomes).toEqual({ strip: 'up-to-date', model: 'up-to-date' });
    expect(stages()).toEqual(['model', 'strip']);
  });

  it('and a full build afterwards removes entries of removed stages', async () => {
    await build();
    const { bench: _, ...others } = STAGES;
    world.stages = others;
    const { outcomes } = await build();

    expect(new Set(Object.values(outcomes))).toEqual(new Set(['up-to-date']));
    expect(stages()).toEqual(['after', 'model', 'score', 'strip']);
    world.stages = STAGES;
    await build();
    expect(stages()).toContain('bench');
  });
});

describe('the lock is unchanged', () => {
  it('after a missed gate, and is written when the gate is met', async () => {
    await build();
    const before = stamp();
    world.stages = { ...STAGES, score: { ...STAGES.score, gate: [gate('lines', '>=', 3)] } };
    world.append('side.txt', '\nsecond');
    expect((await build()).report.conclusion).toBe('gate-missed');
    expect((await build()).report.conclusion).toBe('gate-missed');
    expect(stamp()).toBe(before);

    world.append('side.txt', '\nthird');
    expect((await build()).report.conclusion).toBe('built');
    expect(stamp()).not.toBe(before);
  });

  it('after a failed and after a cancelled build', async () => {
    await build();
    const before = stamp();
    world.append('side.txt', '\nsecond');
    world.stages = { ...STAGES, bench: { uses: 'act', params: { end: 'throw' } } };
    expect((await build({ failures: 'keep-going' })).report.conclusion).toBe('failed');
    expect(stamp()).toBe(before);

    world.stages = { ...STAGES, bench: { uses: 'act', params: { until: world.path('never') } } };
    const abort = new AbortController();
    const { report } = await world.build(
      { lock: { file: lock(), use: 'write' } },
      { signal: abort.signal, emit: event => void (event.kind === 'stage-started' && event.stage === 'bench' && abort.abort()) },
    );
    expect(report.conclusion).toBe('cancelled');
    expect(stamp()).toBe(before);
  });
});

describe('on another platform class', () => {
  it('a build adds its own entries, and keeps those of the first class', async () => {
    await build();
    const [first, strip] = [entry('model'), entry('strip')];
    world.platformClass = 'class-2';
    await build();

    expect(entry('strip')).toBe(strip);
    expect(entry('model')).toBe(`${first}\n${first.slice(first.indexOf('      class-1')).replace('class-1', 'class-2')}`);
    world.platformClass = 'class-1';
    const both = text();
    await build();
    expect(text()).toBe(both);
  });

  it('entries of other classes are removed if they no longer belong to the action or its inputs', async () => {
    await build();
    world.platformClass = 'class-2';
    world.append('source.txt', '\nthree');
    await build();
    expect(entry('model')).not.toContain('class-1');
    expect(entry('after')).not.toContain('class-1');

    world.platformClass = 'class-1';
    await build();
    world.stages = { ...STAGES, after: { ...STAGES.after, params: { add: '?' } } };
    await build();
    expect(entry('model')).toContain('class-2');
    expect(entry('after')).not.toContain('class-2');
  });
});

describe('a lock that cannot be read', () => {
  it('is reported before anything runs, even if there is nothing to do', async () => {
    world.write('pipeline.lock', 'version: 1\n<<<<<<< HEAD\n');
    await expect(build()).rejects.toThrow(LockRefused);
    expect(existsSync(world.path('artifacts/strip'))).toBe(false);

    rmSync(world.path('pipeline.lock'));
    await build();
    world.write('pipeline.lock', 'version: 7\n');
    await expect(build()).rejects.toMatchObject({ code: 'lock-newer' });
    expect(text()).toBe('version: 7\n');
  });

  it('is also reported for a folder at its path', async () => {
    mkdirSync(world.path('pipeline.lock'));
    await expect(build()).rejects.toMatchObject({ code: 'lock-unreadable' });
  });

  it('is a warning if it appeared during the build, because the results exist', async () => {
    const damage = (): void => writeFileSync(join(world.folder, 'pipeline.lock'), 'nonsense\n');
    const { report, warnings } = await world.build(
      { lock: { file: lock(), use: 'write' } },
      { emit: event => void (event.kind === 'stage-started' && event.stage === 'bench' && damage()) },
    );

    expect(report.conclusion).toBe('built');
    expect(warnings).toEqual(['lock-not-written']);
    expect(text()).toBe('nonsense\n');
  });
});

function stamp(): string {
  const { ino, mtimeNs, ctimeNs, size } = lstatSync(world.path('pipeline.lock'), { bigint: true });
  return [ino, mtimeNs, ctimeNs, size].join(' ');
}
