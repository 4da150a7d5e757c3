/** Files in artifacts/ and cache/ that no build wrote: they stay, whatever is built, restored, collected or cleaned beside them. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import type { StageId } from '../../../src/engine/model/plan.js';
import { clean } from '../../../src/engine/store/maintenance/clean.js';
import type { Built, World } from '../../support/world.js';
import { givenWorld } from '../../support/world.js';

const CHAIN = { strip: { uses: 'strip', inputs: { text: 'source.txt' } }, count: { uses: 'count', inputs: { text: 'strip.text' } } };
const FOLDERS = { folders: { uses: 'folders', inputs: { text: 'source.txt' } } };

let world: World;
beforeEach(() => {
  world = givenWorld(CHAIN, { 'source.txt': 'one\ntwo' });
});
afterEach(() => world.remove());

function foreign(built: Built): readonly string[] {
  return built.events.flatMap(event => (event.kind === 'warning' && event.code === 'foreign-files' ? [event.message] : []));
}

function failureOf(built: Built, stage: string) {
  const outcome = built.report.stages.get(stage as StageId)?.outcome;
  return outcome?.kind === 'failed' ? outcome.failure : undefined;
}

describe('a file beside the outputs of a stage', () => {
  it('is kept, and reported once', async () => {
    await world.build();
    world.write('artifacts/strip/model.bin', 'mine');
    const first = await world.build();

    expect(first.outcomes).toEqual({ strip: 'up-to-date', count: 'up-to-date' });
    expect(foreign(first)).toEqual(['artifacts/strip holds files that no build wrote: model.bin; they stay']);
    expect(foreign(await world.build())).toEqual([]);
    expect(world.read('artifacts/strip/model.bin')).toBe('mine');
  });

  it.each([
    ['the stage runs', () => world.write('source.txt', 'three')],
    ['an output is restored', () => rmSync(world.path('artifacts/strip/text'))],
    ['an edited output is replaced', () => world.write('artifacts/strip/text', 'no')],
    ['the cache is gone', () => rmSync(world.path('cache'), { recursive: true })],
  ])('stays when %s', async (_what, change) => {
    await world.build();
    world.write('artifacts/strip/model.bin', 'mine');
    mkdirSync(world.path('artifacts/strip/runs'));
    world.write('artifacts/strip/runs/1', 'mine too');
    change();
    const built = await world.build();

    expect(built.report.conclusion).toBe('built');
    expect(foreign(built)).toEqual(['artifacts/strip holds files that no build wrote: model.bin, runs; they stay']);
    expect(world.read('artifacts/strip/text')).toBe(world.read('source.txt').toUpperCase());
    expect(world.read('artifacts/strip/model.bin')).toBe('mine');
    expect(world.read('artifacts/strip/runs/1')).toBe('mine too');
    expect(existsSync(world.path('artifacts/.staging'))).toBe(false);
  });

  it('is kept next to an output folder whose content is replaced', async () => {
    world.stages = FOLDERS;
    await world.build();
    world.write('artifacts/folders/notes.txt', 'mine');
    world.write('artifacts/folders/all/stranger', 'x');
    world.write('source.txt', 'three');
    await world.build();

    expect(readdirSync(world.path('artifacts/folders')).sort()).toEqual(['all', 'notes.txt']);
    expect(existsSync(world.path('artifacts/folders/all/stranger'))).toBe(false);
    expect(world.read('artifacts/folders/all/text.txt')).toBe('three');
  });

  it('stays where an output of an earlier plan goes', async () => {
    await world.build();
    world.write('artifacts/strip/model.bin', 'mine');
    world.stages = { strip: FOLDERS.folders };
    await world.build();

    expect(readdirSync(world.path('artifacts/strip')).sort()).toEqual(['all', 'model.bin']);
  });
});

describe('a foreign file at the path of an output', () => {
  it.each([
    ['a file at its place', 'artifacts/strip', () => world.write('artifacts/strip/text', 'mine'), 'artifacts/strip/text'],
    ['a file where the folder of the stage belongs', 'artifacts', () => world.write('artifacts/strip', 'mine'), 'artifacts/strip'],
    [
      'a link where the folder of the stage belongs',
      'artifacts',
      () => symlinkSync('/tmp', world.path('artifacts/strip')),
      'artifacts/strip',
    ],
  ])('fails the stage and stays: %s', async (_what, folder, put, path) => {
    mkdirSync(world.path(folder), { recursive: true });
    put();
    const built = await world.build();

    expect(failureOf(built, 'strip')).toMatchObject({ code: 'output-blocked', details: { path: world.path(path) } });
    rmSync(world.path(path));
    expect((await world.build()).outcomes).toEqual({ strip: 'restored', count: 'executed' });
  });

  it('stays where the output was cleaned away before, also when it is cleaned once more', async () => {
    await world.build();
    const cleanAll = async () => {
      const ports = { emit: () => undefined, signal: new AbortController().signal };
      return clean(await world.plan(), { targets: 'all', what: 'artifacts' }, ports);
    };
    await cleanAll();
    mkdirSync(world.path('artifacts/strip'));
    world.write('artifacts/strip/text', 'mine');

    expect(failureOf(await world.build(), 'strip')).toMatchObject({ code: 'output-blocked' });
    expect((await cleanAll()).left).toContain('artifacts/strip/text');
    expect(world.read('artifacts/strip/text')).toBe('mine');
    rmSync(world.path('artifacts/strip/text'));
    expect((await world.build()).report.conclusion).toBe('built');
  });

  it('is accepted as the output if its bytes are equal', async () => {
    await world.build();
    for (const name of ['cache', 'artifacts/.tanren']) rmSync(world.path(name), { recursive: true });

    expect((await world.build()).outcomes).toEqual({ strip: 'executed', count: 'executed' });
  });

  it('was published, where the marker of artifacts/ lists it, though the cache is gone', async () => {
    await world.build();
    rmSync(world.path('cache'), { recursive: true });
    world.write('source.txt', 'three');

    expect((await world.build()).report.conclusion).toBe('built');
    expect(world.read('artifacts/strip/text')).toBe('THREE');
  });
});

describe('the marker of artifacts/', () => {
  it('is that of a clean build, whatever was built before', async () => {
    const clean = async (): Promise<string> => {
      for (const name of ['cache', 'artifacts']) rmSync(world.path(name), { recursive: true, force: true });
      await world.build({ jobs: 4 });
      return world.read('artifacts/.tanren');
    };
    const expected = await clean();
    world.stages = { count: CHAIN.count, strip: CHAIN.strip };
    world.stages = CHAIN;
    await world.build({ targets: ['strip' as StageId], force: 'targets' });
    await world.build({ force: 'targets' });

    expect(world.read('artifacts/.tanren')).toBe(expected);
    expect(expected).toMatch(/^tanren-artifacts 1\n/);
  });

  it('comes to artifacts of a version that wrote none', async () => {
    await world.build();
    rmSync(world.path('artifacts/.tanren'));
    world.write('source.txt', 'three');
    const built = await world.build();

    expect([built.report.conclusion, built.warnings]).toEqual(['built', []]);
    expect(world.read('artifacts/.tanren')).toContain('"strip"');
  });

  it.each([
    ['cut', (text: string) => text.slice(0, -10)],
    ['emptied', () => ''],
    ['of a newer version', () => 'tanren-artifacts 9\n?\n'],
  ])('that is %s costs nothing while the state is there', async (_what, change) => {
    await world.build();
    world.write('artifacts/.tanren', change(world.read('artifacts/.tanren')));
    world.write('source.txt', 'three');

    expect((await world.build()).report.conclusion).toBe('built');
    expect(world.read('artifacts/strip/text')).toBe('THREE');
  });
});

describe("a foreign file at the path of Tanren's own files", () => {
  it.each([
    ['a file at the place of the marker', '.tanren', () => world.write('artifacts/.tanren', 'mine')],
    ['a folder at the place of the marker', '.tanren', () => mkdirSync(world.path('artifacts/.tanren'))],
    ['a link at the place of the marker', '.tanren', () => symlinkSync(world.path('source.txt'), world.path('artifacts/.tanren'))],
    ['a link at the place of new artifacts', '.staging', () => symlinkSync(world.path('store'), world.path('artifacts/.staging'))],
    ['a file at the place of new artifacts', '.staging', () => world.write('artifacts/.staging', 'mine')],
  ])('stays and fails the stages: %s', async (_what, name, place) => {
    for (const folder of ['artifacts', 'store/0123456789abcdef']) mkdirSync(world.path(folder), { recursive: true });
    world.write('store/0123456789abcdef/notes', 'mine');
    place();
    const before = readTree(world.path('artifacts'));
    const built = await world.build();

    expect(failureOf(built, 'strip')).toMatchObject({ code: 'output-blocked', message: expect.stringContaining(name) });
    expect(readTree(world.path('artifacts'))).toEqual(before);
    expect(readTree(world.path('store'))).toEqual(['0123456789abcdef', '0123456789abcdef/notes']);
  });

  it('stays behind a link at the place of running stages', async () => {
    for (const folder of ['cache', 'store/run-0123456789abcdef']) mkdirSync(world.path(folder), { recursive: true });
    world.write('store/run-0123456789abcdef/notes', 'mine');
    symlinkSync(world.path('store'), world.path('cache/tmp'));

    expect((await world.build()).report.conclusion).toBe('built');
    expect(world.read('store/run-0123456789abcdef/notes')).toBe('mine');
  });

  it('stays behind a link at the place of a state that is not whole yet', async () => {
    world.write('notes.txt', 'mine');
    mkdirSync(world.path('cache/state'), { recursive: true });
    symlinkSync(world.path('notes.txt'), world.path('cache/state/pipeline.log.tmp'));

    expect((await world.build()).report.conclusion).toBe('built');
    expect(world.read('notes.txt')).toBe('mine');
  });
});

function readTree(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}

describe('files in the cache that no build wrote', () => {
  it('stay, and a build that runs names them', async () => {
    await world.build();
    world.write('cache/results.sqlite', 'mine');
    world.write('cache/tmp/notes.txt', 'mine');
    mkdirSync(world.path('cache/tmp/run-0123456789abcdef'));
    world.write('cache/tmp/run-0123456789abcdef/left', 'of a killed build');
    world.write('source.txt', 'three');
    const built = await world.build();

    expect(foreign(built)).toEqual(['no build wrote cache/results.sqlite, cache/tmp/notes.txt: it stays']);
    expect(readdirSync(world.path('cache/tmp'))).toEqual(['notes.txt']);
    expect(readFileSync(world.path('cache/results.sqlite'), 'utf8')).toBe('mine');
  });

  it('stay beside new artifacts that are not whole yet', async () => {
    await world.build();
    mkdirSync(world.path('artifacts/.staging/0123456789abcdef.old'), { recursive: true });
    world.write('artifacts/.staging/notes.txt', 'mine');
    world.write('source.txt', 'three');
    await world.build();

    expect(readdirSync(world.path('artifacts/.staging'))).toEqual(['notes.txt']);
  });
});

describe('a write to a folder output at the moment of its publishing', () => {
  it.each([
    ['a file that joins it', 'stranger', 'x'],
    ['an edit of a file in it', 'text.txt', 'forged'],
  ])('is undone by the next build: %s', async (_what, name, text) => {
    world.stages = FOLDERS;
    await world.build();
    world.write('source.txt', 'three');
    let over = false;
    const isPublished = (): boolean =>
      existsSync(world.path('artifacts/folders/all/text.txt')) && world.read('artifacts/folders/all/text.txt') === 'three';
    const intruding = (async () => {
      while (!over && !isPublished()) await new Promise(resolve => setImmediate(resolve));
      world.write(`artifacts/folders/all/${name}`, text);
      return over ? 'late' : 'in time';
    })();
    const built = await world.build();
    over = true;

    expect([built.outcomes, await intruding]).toEqual([{ folders: 'executed' }, 'in time']);
    expect((await world.build()).outcomes).toEqual({ folders: 'restored' });
    expect(readdirSync(world.path('artifacts/folders/all')).sort()).toEqual(['deep', 'text.txt']);
    expect(world.read('artifacts/folders/all/text.txt')).toBe('three');
  });
});
