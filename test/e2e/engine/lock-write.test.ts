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
  it('writes the lock: outputs once where they are the same everywhere, per class where models are run, none where it is measured', async () => {
    await build();

    expect(stages()).toEqual(['after', 'bench', 'model', 'score', 'strip']);
    expect(entry('strip')).toMatch(/\n {4}outputs:\n {6}text: file [0-9a-f]{64}$/);
    expect(entry('model')).toMatch(/\n {4}classes:\n {6}class-1:\n {8}outputs:\n {10}text: file [0-9a-f]{64}$/);
    expect(entry('after')).toMatch(
      /inputs:\n {6}text: model\.text\n {4}classes:\n {6}class-1:\n {8}inputs:\n {10}text: file [0-9a-f]{64}\n {8}outputs:/,
    );
    expect(entry('bench')).toMatch(/inputs:\n {6}text: after\.text\n {4}outputs: measured$/);
  });

  it('writes the same bytes in another folder, and neither dates nor paths nor the host', async () => {
    await build();
    const other = givenWorld(STAGES, SOURCES);
    await other.build({ lock: { file: lockFileOf('pipeline.yaml', other.folder), use: 'write' }, jobs: 1 });

    expect(other.read('pipeline.lock')).toBe(text());
    expect(text()).not.toContain(world.folder);
    expect(text()).not.toMatch(/20\d\d-/);
    other.remove();
  });

  it('writes it for everybody to read, and leaves nothing beside it', async () => {
    await build();

    expect(statSync(world.path('pipeline.lock')).mode & 0o444).toBe(0o444 & ~process.umask());
    expect(existsSync(world.path('.pipeline.lock.tmp'))).toBe(false);
  });

  it('does not write it again where it is right', async () => {
    await build();
    const before = stamp();
    await build();
    world.write('source.txt', 'one\n# another comment\ntwo');
    world.write('source.txt', SOURCES['source.txt']);
    await build();

    expect(stamp()).toBe(before);
  });

  it('leaves a right lock with the line endings of the system, and takes no lock and writes nothing where there is nothing to do', async () => {
    await untilSettled(world, build);
    world.write('pipeline.lock', text().replaceAll('\n', '\r\n'));
    const before = stamp();
    const { outcomes } = await build();

    expect(new Set(Object.values(outcomes))).toEqual(new Set(['up-to-date']));
    expect(stamp()).toBe(before);
    expect(existsSync(world.path('cache/lock'))).toBe(false);
  });

  it('writes it again where somebody has deleted or changed it', async () => {
    await build();
    const right = text();
    rmSync(world.path('pipeline.lock'));
    await build();
    expect(text()).toBe(right);

    world.write('pipeline.lock', right.replace(/file [0-9a-f]{64}/, `file ${'0'.repeat(64)}`));
    await build();
    expect(text()).toBe(right);
  });

  it('says what a stage reads now, though it reads the same bytes from another stage', async () => {
    const bench = { uses: 'measured', inputs: { text: 'source.txt' } };
    const reader = (from: string) => ({ uses: 'plain', inputs: { text: from } });
    world.stages = { one: bench, other: bench, reader: reader('one.text') };
    await build();
    world.stages = { one: bench, other: bench, reader: reader('other.text') };
    const { outcomes } = await build();

    expect(outcomes.reader).toBe('up-to-date');
    expect(entry('reader')).toContain('text: other.text');
  });

  it('writes what a build without a lock (watch, or one that was killed before it wrote) has left unsaid', async () => {
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
  it('enters what it built, and leaves the rest as it is, gone stages too', async () => {
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

  it('of stages that are all there are once another is gone: the next whole build takes it away, though nothing runs', async () => {
    await build();
    const { strip, model } = STAGES;
    world.write('source.txt', 'three');
    await build({ targets: ids('strip', 'model') });
    world.stages = { strip, model };
    const { outcomes } = await build();

    expect(outcomes).toEqual({ strip: 'up-to-date', model: 'up-to-date' });
    expect(stages()).toEqual(['model', 'strip']);
  });

  it('and a whole build then takes away what is gone', async () => {
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

describe('the lock stays as it is', () => {
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
  it('a build adds its own entries, and leaves those of the first', async () => {
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

  it('entries of the others go where they no longer belong to the action, or to what it is made from', async () => {
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
  it('is said before anything runs, whether there is something to do or not', async () => {
    world.write('pipeline.lock', 'version: 1\n<<<<<<< HEAD\n');
    await expect(build()).rejects.toThrow(LockRefused);
    expect(existsSync(world.path('artifacts/strip'))).toBe(false);

    rmSync(world.path('pipeline.lock'));
    await build();
    world.write('pipeline.lock', 'version: 7\n');
    await expect(build()).rejects.toMatchObject({ code: 'lock-newer' });
    expect(text()).toBe('version: 7\n');
  });

  it('as a folder in its place is', async () => {
    mkdirSync(world.path('pipeline.lock'));
    await expect(build()).rejects.toMatchObject({ code: 'lock-unreadable' });
  });

  it('is a warning where it came to be while the build ran: the results are there', async () => {
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
