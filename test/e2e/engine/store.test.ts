/** The cache gives back what was put in, and nothing else. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import { build } from '../../../src/engine/build.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import type { World } from '../../support/world.js';
import { givenWorld } from '../../support/world.js';

const CHAIN = { strip: { uses: 'strip', inputs: { text: 'source.txt' } }, count: { uses: 'count', inputs: { text: 'strip.text' } } };

let world: World;
beforeEach(() => {
  world = givenWorld(CHAIN, { 'source.txt': 'one\ntwo' });
});
afterEach(() => world.remove());

it('a record in the place of the record of another action is damaged, and gives nobody its result', async () => {
  world.write('other.txt', 'three');
  world.stages = { one: { uses: 'strip', inputs: { text: 'source.txt' } }, two: { uses: 'strip', inputs: { text: 'other.txt' } } };
  await world.build();
  const folder = world.path('cache/actions');
  const records = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => lstatSync(join(folder, name)).isFile());
  const [a = '', b = ''] = records.map(name => readFileSync(join(folder, name), 'utf8'));
  expect(records).toHaveLength(2);
  for (const [i, text] of [b, a].entries()) {
    rmSync(join(folder, records[i] ?? ''));
    writeFileSync(join(folder, records[i] ?? ''), text);
  }
  for (const name of ['artifacts', 'cache/state']) rmSync(world.path(name), { recursive: true });

  expect((await world.build()).outcomes).toEqual({ one: 'executed', two: 'executed' });
  expect(world.read('artifacts/one/text')).toBe('ONE\nTWO');
  expect(world.read('artifacts/two/text')).toBe('THREE');
});

describe('artifacts', () => {
  it('that were deleted are restored from the cache', async () => {
    await world.build();
    rmSync(world.path('artifacts'), { recursive: true });

    expect((await world.build()).outcomes).toEqual({ strip: 'restored', count: 'restored' });
    expect(world.read('artifacts/strip/text')).toBe('ONE\nTWO');
  });

  it('that were edited by hand are replaced, with a warning', async () => {
    await world.build();
    writeFileSync(world.path('artifacts/strip/text'), 'ONE\nTWX');
    const { outcomes, warnings } = await world.build();

    expect(outcomes).toEqual({ strip: 'restored', count: 'up-to-date' });
    expect(warnings).toEqual(['artifact-edited']);
    expect(world.read('artifacts/strip/text')).toBe('ONE\nTWO');
  });

  it('that are folders are restored with modes, links and empty folders, and without foreign files', async () => {
    world.stages = { folders: { uses: 'folders', inputs: { text: 'source.txt' } }, list: { uses: 'list', inputs: { all: 'folders.all' } } };
    await world.build();
    const all = world.path('artifacts/folders/all');
    writeFileSync(join(all, 'deep/stranger'), '');
    execFileSync('mkfifo', [join(all, 'deep/pipe')]);
    rmSync(join(all, 'deep/empty'), { recursive: true });
    chmodSync(join(all, 'deep/program'), 0o644);
    const { outcomes } = await world.build();

    expect(outcomes).toEqual({ folders: 'restored', list: 'up-to-date' });
    expect(readdirSync(all, { recursive: true, encoding: 'utf8' }).sort()).toEqual([
      'deep',
      'deep/empty',
      'deep/link',
      'deep/program',
      'text.txt',
    ]);
    expect(readlinkSync(join(all, 'deep/link'))).toBe('../text.txt');
    expect(statSync(join(all, 'deep/program')).mode & 0o111).not.toBe(0);
    expect(lstatSync(join(all, 'text.txt')).mode & 0o111).toBe(0);
  });

  it('do not depend on the umask of the caller', async () => {
    world.stages = { act: { uses: 'act', params: { umask: true } } };
    const before = process.umask(0o077);
    await world.build().finally(() => process.umask(before));
    expect(world.read('artifacts/act/text')).toBe('22');
  });

  it('keep the executable bit, which is part of the content', async () => {
    world.stages = { act: { uses: 'act', params: { add: '#!/bin/sh\n', mode: 0o755 } } };
    await world.build();
    rmSync(world.path('artifacts'), { recursive: true });
    await world.build();

    expect(statSync(world.path('artifacts/act/text')).mode & 0o111).not.toBe(0);
  });
});

describe('a subset that was killed', () => {
  it('is removed by the next build, and an interrupted sweep is left', async () => {
    const names = ['.subset-pipeline', '.sweep-pipeline'];
    for (const pipeline of names)
      await build({ ...(await world.plan()), pipeline }, { targets: 'all', failures: 'stop', force: 'never' }, world.ports());
    const left = (): readonly string[] =>
      names.filter(name => existsSync(world.path(`artifacts/${name}`)) || existsSync(world.path(`cache/state/${name}.log`)));
    expect(left()).toEqual(names);
    expect((await world.build()).warnings).toEqual([]);
    expect(left()).toEqual(['.sweep-pipeline']);
  });
});

describe('a damaged cache', () => {
  it.each([
    ['with one bit flipped in every blob', (path: string) => flipBit(path)],
    ['with every blob cut in half', (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ['without blobs', (path: string) => rmSync(path)],
  ])('%s gives no wrong bytes: the stages run again, with a warning', async (_name, damage) => {
    await world.build();
    for (const blob of listFiles(world.path('cache/cas'))) damage(blob);
    rmSync(world.path('artifacts'), { recursive: true });
    const { outcomes, warnings, report } = await world.build();

    expect(outcomes).toEqual({ strip: 'executed', count: 'executed' });
    // One for each stage, although its results are looked up several times.
    expect(warnings).toEqual(['cache-damaged', 'cache-damaged']);
    expect(report.conclusion).toBe('built');
    expect(world.read('artifacts/count/text')).toBe('2\n');
    checkStore(world);
  });

  it('with truncated records and state is a miss with a warning, never an error', async () => {
    await world.build();
    const files = [...listFiles(world.path('cache/actions')), ...listFiles(world.path('cache/state'))];
    for (const file of files) truncateSync(file, Math.floor(statSync(file).size / 2));
    const { report, warnings } = await world.build();

    expect(report.conclusion).toBe('built');
    // What the state has lost is its end, as after a kill: no damage to warn of.
    expect(warnings).toEqual(expect.arrayContaining(['cache-damaged']));
    expect(warnings).not.toContain('state-damaged');
    expect(world.read('artifacts/count/text')).toBe('2\n');
    expect((await world.build()).outcomes).toEqual({ strip: 'up-to-date', count: 'up-to-date' });
  });

  it('that was deleted is created again', async () => {
    await world.build();
    rmSync(world.path('cache'), { recursive: true });

    expect((await world.build()).outcomes).toEqual({ strip: 'executed', count: 'executed' });
    expect((await world.build()).outcomes).toEqual({ strip: 'up-to-date', count: 'up-to-date' });
  });

  it('of a newer version is ignored with a warning', async () => {
    await world.build();
    writeFileSync(world.path('cache/state/pipeline.log'), 'tanren-state 999\nsomething\n');

    const { outcomes, warnings } = await world.build();
    expect(outcomes).toEqual({ strip: 'restored', count: 'restored' });
    expect(warnings).toContain('state-damaged');
  });
});

describe('a folder in the place of a file of the cache', () => {
  it.each(['state/pipeline.log', 'history/pipeline.log'])('is removed if it is empty: %s', async path => {
    await world.build();
    rmSync(world.path(`cache/${path}`));
    mkdirSync(world.path(`cache/${path}`));
    world.write('source.txt', 'three');
    await world.build();

    const { outcomes, warnings } = await world.build();
    expect(outcomes).toEqual({ strip: 'up-to-date', count: 'up-to-date' });
    expect(warnings).toEqual([]);
    expect(statSync(world.path(`cache/${path}`)).isFile()).toBe(true);
  });

  it('stays with what it holds if it is the state: builds restore results, with one warning, until it is moved away', async () => {
    await world.build();
    rmSync(world.path('cache/state/pipeline.log'));
    mkdirSync(world.path('cache/state/pipeline.log'));
    world.write('cache/state/pipeline.log/notes.txt', 'mine');
    world.write('source.txt', 'three');

    expect(await world.build()).toMatchObject({ report: { conclusion: 'built' }, warnings: ['state-blocked'] });
    const { outcomes, warnings } = await world.build();
    expect(outcomes).toEqual({ strip: 'restored', count: 'restored' });
    expect(warnings).toEqual(['state-blocked']);
    expect(world.read('cache/state/pipeline.log/notes.txt')).toBe('mine');

    renameSync(world.path('cache/state/pipeline.log'), world.path('notes'));
    await world.build();
    expect(await world.build()).toMatchObject({ outcomes: { strip: 'up-to-date', count: 'up-to-date' }, warnings: [] });
  });
});

describe('a cache that cannot be written', () => {
  it('fails no build: artifacts are correct, and one warning is printed', async () => {
    world.write('file', '');
    const { report, warnings } = await world.build({ cacheFolder: world.path('file/cache') });

    expect(report.conclusion).toBe('built');
    expect(world.read('artifacts/count/text')).toBe('2\n');
    expect(new Set(warnings)).toEqual(new Set(['lock-unavailable', 'cache-write-failed']));
    expect(warnings.filter(code => code === 'cache-write-failed')).toHaveLength(2);
  });
});

describe('artifacts that cannot be written', () => {
  it('fail the stage with an error code; the result is stored, and restored when they can be written', async () => {
    world.write('artifacts', 'a file in its place');
    const { report } = await world.build();
    expect(report.stages.get('strip' as StageId)?.outcome).toMatchObject({ failure: { code: 'not-published' } });

    rmSync(world.path('artifacts'));
    expect((await world.build()).outcomes).toEqual({ strip: 'restored', count: 'executed' });
  });
});

describe('a result', () => {
  it('that differs for the same action is stored in addition to the first, and reported', async () => {
    world.stages = { wild: { uses: 'act', params: { random: 'wild' } } };
    await world.build();
    const { warnings, outcomes } = await world.build({ targets: ['wild' as StageId], force: 'targets' });

    expect(outcomes.wild).toBe('executed');
    expect(warnings).toEqual(['non-deterministic']);
    const [record] = listFiles(world.path('cache/actions'));
    expect(JSON.parse(readFileSync(record ?? '', 'utf8').split('\n')[1] ?? '').results).toHaveLength(2);
  });

  it('of a measuring stage may differ', async () => {
    world.stages = { measure: { uses: 'measure', inputs: { text: 'source.txt' } } };
    await world.build();

    expect((await world.build({ force: 'targets' })).warnings).toEqual([]);
  });

  it('uses random numbers that depend only on the action', async () => {
    world.stages = { act: { uses: 'act', params: { label: 'seed' } } };
    await world.build();
    const first = world.read('artifacts/act/text');
    const again = await world.build({ force: 'targets' });

    expect(Number(first)).toBeGreaterThanOrEqual(0);
    expect(again.warnings).toEqual([]);
    expect(world.read('artifacts/act/text')).toBe(first);
  });
});

describe('two projects in different folders, with different jobs', () => {
  it('make equal artifacts under equal keys', async () => {
    const other = givenWorld(CHAIN, { 'source.txt': 'one\ntwo' });
    await world.build({ jobs: 1 });
    await other.build({ jobs: 8 });

    expect(listNames(other.path('cache/actions'))).toEqual(listNames(world.path('cache/actions')));
    expect(listNames(other.path('cache/cas'))).toEqual(listNames(world.path('cache/cas')));
    other.remove();
  });
});

function listFiles(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap(entry =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

function listNames(folder: string): readonly string[] {
  return listFiles(folder)
    .map(path => path.slice(folder.length))
    .sort();
}

function flipBit(path: string): void {
  chmodSync(path, 0o600);
  const bytes = readFileSync(path);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

/** No blob fails its digest. */
function checkStore({ path }: World): void {
  for (const blob of listFiles(path('cache/cas'))) expect(digestBytes(readFileSync(blob))).toBe(blob.slice(-64));
}
