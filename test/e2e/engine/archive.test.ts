/** Archives carry results from one checkout to another, whole, and nothing else. */
import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Digest, digestBytes, digestJson } from '../../../src/base/digest.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { encodeRecord } from '../../../src/engine/store/action-records.js';
import { exportCache, importArchive } from '../../../src/engine/store/archive/archive.js';
import { archiveAt } from '../../../src/engine/store/archive/archive-bytes.js';
import { ARCHIVE_HEADER, encodeEnd, encodeHead } from '../../../src/engine/store/archive/archive-format.js';
import { writeArchive } from '../../../src/engine/store/archive/write-archive.js';
import { readBlob } from '../../../src/engine/store/blob-store.js';
import { cacheFolderAt } from '../../../src/engine/store/cache-folder.js';
import { encodeTree } from '../../../src/engine/store/files/tree.js';
import { takeInventory } from '../../../src/engine/store/maintenance/inventory.js';
import { verifyCache } from '../../../src/engine/store/maintenance/maintain-cache.js';
import { openStores } from '../../../src/engine/store/shared-cache.js';
import type { World } from '../../support/world.js';
import { givenWorld } from '../../support/world.js';

const STAGES = {
  strip: { uses: 'strip', inputs: { text: 'source.txt' } },
  count: { uses: 'count', inputs: { text: 'strip.text' } },
  folders: { uses: 'folders', inputs: { text: 'source.txt' } },
};
const SOURCES = { 'source.txt': 'one\ntwo' };

let here: World;
let there: World;
beforeEach(() => {
  here = givenWorld(STAGES, SOURCES);
  there = givenWorld(STAGES, SOURCES);
});
afterEach(() => {
  here.remove();
  there.remove();
});

const cacheOf = (world: World) => cacheFolderAt(world.path('cache'));
const never = new AbortController().signal;

async function exportFrom(
  world: World,
  name = 'warm.tanren',
  targets: 'all' | readonly StageId[] = 'all',
  since: readonly string[] = [],
  parts: 'with parts' | 'without parts' = 'with parts',
) {
  const choice = { kind: 'accepted', plan: await world.plan(), targets, parts } as const;
  const path = world.path(name);
  return { path, report: await exportCache(cacheOf(world), { choice, since }, { kind: 'file', path }, never) };
}

const importInto = (world: World, path: string) => importArchive(cacheOf(world), archiveAt(path), world.ports());

/** Every file of a cache's content, by path below it, with its bytes. */
function contentOf(world: World): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ['cas', 'actions']
      .flatMap(name =>
        existsSync(world.path(`cache/${name}`)) ? readdirSync(world.path(`cache/${name}`), { recursive: true, withFileTypes: true }) : [],
      )
      .filter(entry => entry.isFile())
      .map(entry => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'latin1')]),
  );
}

describe('an archive', () => {
  it('fills the cache of another checkout: nothing runs there, and its artifacts are equal', async () => {
    await here.build();
    const { path, report } = await exportFrom(here);
    const taken = await importInto(there, path);
    const { outcomes } = await there.build();

    expect(report).toMatchObject({ records: 3, incomplete: [], unbuilt: [] });
    expect(taken).toMatchObject({ records: 3, known: 0, damaged: [], incomplete: [], different: [] });
    expect(outcomes).toEqual({ strip: 'restored', count: 'restored', folders: 'restored' });
    expect(there.read('artifacts/folders/all/text.txt')).toBe(here.read('artifacts/folders/all/text.txt'));
    expect(contentOf(there)).toEqual(contentOf(here));
  });

  it('has equal bytes if the results are equal, independent of the build history', async () => {
    await here.build();
    const first = await exportFrom(here);
    here.write('source.txt', 'other');
    await here.build();
    here.write('source.txt', SOURCES['source.txt']);
    await here.build();
    const second = await exportFrom(here, 'second.tanren');
    await importInto(there, first.path);
    await there.build();
    const third = await exportFrom(there);

    expect(readFileSync(second.path).equals(readFileSync(first.path))).toBe(true);
    expect(readFileSync(third.path).equals(readFileSync(first.path))).toBe(true);
  });

  it('contains only the targets and their dependencies, or all results', async () => {
    await here.build();
    here.write('source.txt', 'other');
    await here.build();
    const some = await exportFrom(here, 'some.tanren', ['count' as StageId]);
    const all = await exportCache(
      cacheOf(here),
      { choice: { kind: 'everything' }, since: [] },
      { kind: 'file', path: here.path('all.tanren') },
      never,
    );

    expect(some.report.records).toBe(2);
    expect(all.records).toBe(6);
    await importInto(there, here.path('all.tanren'));
    expect((await there.build()).outcomes).toEqual({ strip: 'restored', count: 'restored', folders: 'restored' });
    there.write('source.txt', 'other');
    expect((await there.build()).outcomes).toEqual({ strip: 'restored', count: 'restored', folders: 'restored' });
  });

  it('contains the parts that were used: a stage that runs again elsewhere finds them', async () => {
    for (const world of [here, there]) world.stages = { parts: { uses: 'parts', inputs: { text: 'source.txt' } } };
    await here.build();
    const without = await exportFrom(here, 'without.tanren', 'all', [], 'without parts');
    const { path, report } = await exportFrom(here);
    await importInto(there, path);
    const parts = takeInventory(cacheOf(there)).records.filter(({ of }) => of.kind === 'part');

    expect(without.report.records).toBe(1);
    expect(parts).toHaveLength(2);
    expect(report.records).toBe(3);
    // Another source with the same lines: the stage runs again, and its parts do not.
    there.write('source.txt', 'two\none');
    await there.build();
    expect(takeInventory(cacheOf(there)).records.filter(({ of }) => of.kind === 'part')).toHaveLength(2);
  });

  it('leaves out the content of an earlier archive', async () => {
    await here.build();
    const base = await exportFrom(here, 'base.tanren');
    here.write('source.txt', 'one\ntwo\nthree');
    await here.build();
    const delta = await exportFrom(here, 'delta.tanren', 'all', [base.path]);
    const again = await exportFrom(here, 'again.tanren', 'all', [base.path, delta.path]);

    expect(delta.report.records).toBe(3);
    expect(readFileSync(again.path, 'latin1')).toBe(`${ARCHIVE_HEADER}${encodeEnd(0)}`);
    await importInto(there, base.path);
    await importInto(there, delta.path);
    there.write('source.txt', 'one\ntwo\nthree');
    expect((await there.build()).outcomes).toEqual({ strip: 'restored', count: 'restored', folders: 'restored' });
  });

  it('is readable only by its owner, and so are the imported blobs', async () => {
    await here.build();
    const { path } = await exportFrom(here);
    await importInto(there, path);

    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(there.path('cache')).mode & 0o777).toBe(0o700);
    for (const entry of readdirSync(there.path('cache'), { recursive: true, withFileTypes: true }))
      if (entry.isFile() && entry.name !== '.gitignore') expect(statSync(join(entry.parentPath, entry.name)).mode & 0o077).toBe(0);
  });

  it('lists stages without a result, and incomplete results', async () => {
    await here.build({ targets: ['strip' as StageId] });
    const partly = await exportFrom(here);
    const blob = Object.keys(contentOf(here)).find(name => name === digestBytes('ONE\nTWO')) ?? '';
    chmodSync(cacheOf(here).blob(digestBytes('ONE\nTWO')), 0o600);
    appendFileSync(cacheOf(here).blob(digestBytes('ONE\nTWO')), 'x');
    const damaged = await exportFrom(here, 'damaged.tanren');

    expect(blob).not.toBe('');
    expect(partly.report.unbuilt).toEqual(['count', 'folders']);
    expect(damaged.report).toMatchObject({ records: 0, blobs: 0 });
    expect(damaged.report.incomplete).toHaveLength(1);
  });

  it('that cannot be written is a typed error, and leaves no file', async () => {
    await here.build();
    const choice = { kind: 'everything' } as const;
    const target = { kind: 'file', path: here.path('no/such/folder/x.tanren') } as const;

    await expect(exportCache(cacheOf(here), { choice, since: [] }, target, never)).rejects.toMatchObject({ code: 'not-exported' });
  });
});

describe('an export beside garbage collection', () => {
  it('whose blob is removed between two reads says that it changed, and not that the archive cannot be written', async () => {
    await here.build();
    const cache = cacheOf(here);
    const keys = takeInventory(cache).records.map(({ key }) => key);
    const source = { ...openStores(cache, 'read', 'links', () => undefined), read: (digest: Digest) => readBlob(cache, digest) };
    const removeAtHead = async (chunk: string | Buffer): Promise<void> => {
      if (chunk.toString().startsWith('blob ')) rmSync(here.path('cache/cas'), { recursive: true });
    };
    const writing = writeArchive(source, keys, { blobs: new Set(), records: new Map() }, removeAtHead);
    await expect(writing).rejects.toMatchObject({ code: 'blob-changed' });
  });
});

describe('importing', () => {
  it('twice, or in parallel, gives the same cache', async () => {
    await here.build();
    const { path } = await exportFrom(here);
    await Promise.all([importInto(there, path), importInto(there, path), importInto(there, path)]);
    const before = contentOf(there);
    const again = await importInto(there, path);

    expect(again).toMatchObject({ records: 0, blobs: 0, sizeBytes: 0 });
    expect(contentOf(there)).toEqual(before);
    expect(readdirSync(there.path('cache/tmp'))).toEqual([]);
  });

  it('replaces blobs whose bytes are damaged here, also those of equal size', async () => {
    await here.build();
    const { path } = await exportFrom(here);
    const { blobs } = await importInto(there, path);
    const before = contentOf(there);
    for (const entry of readdirSync(there.path('cache/cas'), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const blob = join(entry.parentPath, entry.name);
      const bytes = readFileSync(blob);
      chmodSync(blob, 0o600);
      writeFileSync(blob, Buffer.from(bytes.map(byte => byte ^ 1)));
    }

    expect(await importInto(there, path)).toMatchObject({ blobs, damaged: [], incomplete: [] });
    expect(contentOf(there)).toEqual(before);
    expect(Object.values((await there.build()).outcomes)).toEqual(['restored', 'restored', 'restored']);
  });

  it('an archive truncated anywhere is a typed error; imported content is complete, and the next build is correct', async () => {
    await here.build();
    const { path } = await exportFrom(here);
    const bytes = readFileSync(path);
    for (let length = 0; length < bytes.length; length += 301) {
      writeFileSync(here.path('cut'), bytes.subarray(0, length));
      await expect(importInto(there, here.path('cut'))).rejects.toMatchObject({ code: 'archive-truncated' });
    }
    const check = await verifyCache(cacheOf(there), () => undefined, there.ports());

    expect(check).toMatchObject({ damagedBlobs: [], damagedRecords: [], incompleteRecords: [] });
    expect(readdirSync(there.path('cache/tmp'))).toEqual([]);
    await there.build();
    expect(there.read('artifacts/count/text')).toBe(here.read('artifacts/count/text'));
  });

  it('an archive with a flipped bit anywhere imports no damaged content', async () => {
    await here.build();
    const { path } = await exportFrom(here);
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += 211) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ 4;
      writeFileSync(here.path('flipped'), flipped);
      rmSync(there.path('cache'), { recursive: true, force: true });
      await importInto(there, here.path('flipped')).then(
        ({ damaged, incomplete }) => expect(damaged.length + incomplete.length).toBeGreaterThan(0),
        error => expect(error.code).toMatch(/^archive-(malformed|version|truncated)$/),
      );
      const check = await verifyCache(cacheOf(there), () => undefined, there.ports());
      expect(check).toMatchObject({ damagedBlobs: [], damagedRecords: [], incompleteRecords: [] });
    }
  });

  it('rejects a record under a wrong key', async () => {
    const record = recordOf({ plugin: 'strip' });
    const path = writeFrames(here, [['record', digestBytes('another key'), encodeRecord(record)]]);

    expect(await importInto(there, path)).toMatchObject({ records: 0, damaged: [digestBytes('another key')] });
    expect(contentOf(there)).toEqual({});
  });

  it('rejects a record that refers to missing blobs', async () => {
    const manifest = { plugin: 'strip' };
    const path = writeFrames(here, [['record', digestJson(manifest), encodeRecord(recordOf(manifest))]]);

    expect(await importInto(there, path)).toMatchObject({ records: 0, incomplete: [digestJson(manifest)] });
  });

  it('rejects a record that is nested too deeply', async () => {
    const body = `{"format":1,"manifest":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}},"results":[{"outputs":{}}]}`;
    const path = writeFrames(here, [['record', digestBytes(body), `${digestBytes(body)}\n${body}\n`]]);

    expect(await importInto(there, path)).toMatchObject({ records: 0, damaged: [digestBytes(body)] });
  });

  it('a forged folder with links that lead outside together writes nothing outside', async () => {
    await here.build();
    const { path } = await exportFrom(here);
    const [key] = Object.entries(contentOf(here)).flatMap(([name, text]) =>
      text.includes('"plugin":"folders"') ? [name.slice(0, 64)] : [],
    );
    const evil = digestBytes('evil');
    const tree = encodeTree([
      { kind: 'symlink', path: 'a/b', target: '..' },
      { kind: 'symlink', path: 'c', target: 'a/b/..' },
      { kind: 'file', path: 'c/evil', digest: evil, sizeBytes: 4, executable: false },
    ]);
    const forged =
      readFileSync(path, 'latin1')
        .split('\n')
        .find(line => line.includes('"plugin":"folders"')) ?? '';
    const { manifest } = JSON.parse(forged) as { manifest: Record<string, string> };
    const output = { kind: 'tree', digest: digestBytes(tree), sizeBytes: 4, executable: false } as const;
    const record = { manifest, results: [{ outputs: { all: output }, metrics: undefined, log: undefined, durationMs: 1 }] };
    const archive = writeFrames(here, [
      ['blob', evil, 'evil'],
      ['blob', digestBytes(tree), tree],
      ['record', key ?? '', encodeRecord(record)],
    ]);
    await importInto(there, archive);
    const { outcomes } = await there.build();

    expect(outcomes.folders).toBe('executed');
    expect(readdirSync(there.path('artifacts')).sort()).toEqual(
      ['.gitignore', '.staging', '.tanren', 'count', 'folders', 'strip'].filter(name => existsSync(there.path(`artifacts/${name}`))),
    );
    expect(readdirSync(there.path('artifacts/folders/all'))).not.toContain('c');
  });

  it('a forged result with paths as output names writes nothing outside', async () => {
    await here.build();
    const [key, text] = Object.entries(contentOf(here)).find(([, content]) => content.includes('"plugin":"strip"')) ?? [];
    const { manifest } = JSON.parse(text?.split('\n')[1] ?? '') as { manifest: Record<string, string> };
    const evil = { kind: 'file', digest: digestBytes('evil'), sizeBytes: 4, executable: false } as const;
    const outputs = { text: evil, '../../evil': evil, '/tmp/tanren-evil': evil };
    const record = { manifest, results: [{ outputs, metrics: undefined, log: undefined, durationMs: 1 }] };
    const archive = writeFrames(here, [
      ['blob', digestBytes('evil'), 'evil'],
      ['record', key?.slice(0, 64) ?? '', encodeRecord(record)],
    ]);
    const name = key?.slice(0, 64) ?? '';
    expect(await importInto(there, archive)).toMatchObject({ records: 0, damaged: [name] });
    putRecord(there, name, encodeRecord(record));
    const before = readdirSync(there.folder).sort();
    const { outcomes, warnings } = await there.build();

    expect(outcomes.strip).toBe('executed');
    expect(warnings).toContain('cache-damaged');
    expect(readdirSync(there.folder).filter(name => !before.includes(name))).toEqual(['artifacts']);
    expect(readdirSync(there.path('artifacts'))).not.toContain('evil');
    expect(existsSync('/tmp/tanren-evil')).toBe(false);
  });

  it.each<[string, 'damaged' | 'incomplete', (output: object) => Record<string, object>]>([
    ['an output called ".."', 'damaged', output => ({ text: output, '..': output })],
    ['two outputs that differ by case alone', 'damaged', output => ({ text: output, Text: output })],
    ['a negative size', 'damaged', output => ({ text: { ...output, sizeBytes: -1 } })],
    ['a blob of another size', 'incomplete', output => ({ text: { ...output, sizeBytes: 5 } })],
    ['a folder that is none', 'incomplete', output => ({ text: { ...output, kind: 'tree' } })],
  ])('a record with %s is refused, and named', async (_what, as, outputsOf) => {
    const manifest = { plugin: 'strip' };
    const outputs = outputsOf({ kind: 'file', digest: digestBytes('evil'), sizeBytes: 4, executable: false }) as never;
    const text = encodeRecord({ manifest, results: [{ outputs, metrics: undefined, log: undefined, durationMs: 1 }] });
    const archive = writeFrames(here, [
      ['blob', digestBytes('evil'), 'evil'],
      ['record', digestJson(manifest), text],
    ]);

    expect(await importInto(there, archive)).toMatchObject({ records: 0, [as]: [digestJson(manifest)] });
  });

  it.each<[string, Record<string, string>, number?]>([
    ['an output that the stage has not', { text: 'there', more: 'there' }],
    ['no output that the stage must have', {}],
    ['an output whose blob is absent', { text: 'absent' }],
    ['an output of another size than its blob', { text: 'there' }, 8],
  ])('a record in the cache with %s is a miss with a warning', async (_what, contents, sizeBytes = 7) => {
    await here.build();
    const [name = '', text] = Object.entries(contentOf(here)).find(([, content]) => content.includes('"plugin":"strip"')) ?? [];
    const { manifest } = JSON.parse(text?.split('\n')[1] ?? '') as { manifest: Record<string, string> };
    const outputs = Object.fromEntries(
      Object.entries(contents).map(([port, content]) => [
        port,
        { kind: 'file', digest: digestBytes(content === 'there' ? 'ONE\nTWO' : content), sizeBytes, executable: false } as const,
      ]),
    );
    rmSync(here.path('artifacts'), { recursive: true });
    rmSync(here.path('cache/state'), { recursive: true });
    putRecord(
      here,
      name.slice(0, 64),
      encodeRecord({ manifest, results: [{ outputs, metrics: undefined, log: undefined, durationMs: 1 }] }),
    );
    const { outcomes, warnings } = await here.build();

    expect([outcomes.strip, warnings.includes('cache-damaged')]).toEqual(['executed', true]);
    expect(here.read('artifacts/strip/text')).toBe('ONE\nTWO');
  });

  it('keeps imported results with different bytes, but prefers the local results', async () => {
    here.stages = { act: { uses: 'act', inputs: { text: 'source.txt' }, params: { random: 'wild' } } };
    there.stages = here.stages;
    await here.build();
    await there.build();
    const before = there.read('artifacts/act/text');
    const taken = await importInto(there, (await exportFrom(here)).path);
    rmSync(there.path('artifacts'), { recursive: true });
    rmSync(there.path('cache/state'), { recursive: true });

    expect(taken.different).toHaveLength(1);
    expect((await there.build()).outcomes).toEqual({ act: 'restored' });
    expect(there.read('artifacts/act/text')).toBe(before);
  });

  it('waits for a build that runs', async () => {
    await here.build();
    const { path } = await exportFrom(here);
    const { acquireLock } = await import('../../../src/engine/store/lock/lock.js');
    const lock = await acquireLock(cacheOf(there).lock, { signal: never, onWaiting: () => undefined });
    const order: string[] = [];
    const emit = (): void => {
      order.push('waits');
      void lock.release();
    };
    await importArchive(cacheOf(there), archiveAt(path), there.ports({ emit }));

    expect(order).toEqual(['waits']);
  });

  it('a file that is not there is a typed error', async () => {
    await expect(importInto(there, there.path('none'))).rejects.toMatchObject({ code: 'archive-unreadable' });
  });
});

function recordOf(manifest: Record<string, string>): Parameters<typeof encodeRecord>[0] {
  const output = { kind: 'file', digest: digestBytes('not there'), sizeBytes: 9, executable: false } as const;
  return { manifest, results: [{ outputs: { text: output }, metrics: undefined, log: undefined, durationMs: 1 }] };
}

function putRecord(world: World, key: string, text: string): void {
  const path = cacheOf(world).record(key);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  writeFileSync(path, text);
}

function writeFrames(world: World, frames: readonly (readonly ['blob' | 'record', string, string])[]): string {
  const path = world.path('forged.tanren');
  const body = frames.map(
    ([kind, name, text]) => `${encodeHead({ kind, name: name as never, sizeBytes: Buffer.byteLength(text) })}${text}`,
  );
  writeFileSync(path, `${ARCHIVE_HEADER}${body.join('')}${encodeEnd(frames.length)}`);
  return path;
}
