/** The contract of stores: content comes back as it was given or not at all, and records name what they need with its size. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Digest } from '../../src/base/digest.js';
import { digestBytes, digestJson } from '../../src/base/digest.js';
import type { ActionResult } from '../../src/engine/store/action-records.js';
import { type CacheFolder, cacheFolderAt, makeCacheFolder } from '../../src/engine/store/cache-folder.js';
import { treeArtifact } from '../../src/engine/store/files/tree.js';
import { openStores, type Stores } from '../../src/engine/store/shared-cache.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-store-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Opened {
  readonly stores: Stores;
  /** Every folder that may hold content. */
  readonly folders: readonly CacheFolder[];
}

function openOwn(): Opened {
  const cache = cacheFolderAt(join(folder, 'own'));
  makeCacheFolder(cache);
  return { stores: openStores(cache, 'write', 'links', neverWarns), folders: [cache] };
}

function openShared(form: 'links' | 'copies'): Opened {
  const cache = cacheFolderAt(join(folder, 'own'), join(folder, 'shared'));
  makeCacheFolder(cache);
  if (cache.shared !== undefined) makeCacheFolder(cache.shared);
  return { stores: openStores(cache, 'write', form, neverWarns), folders: [cache, ...(cache.shared === undefined ? [] : [cache.shared])] };
}

function neverWarns(message: string): void {
  throw new Error(message);
}

const KEY = digestJson({ plugin: 'p' });
const MANIFEST = { plugin: 'p' };

describe.each([
  ['a folder', openOwn],
  ['a folder beside a shared one, joined by links', () => openShared('links')],
  ['a folder beside a shared one, joined by copies', () => openShared('copies')],
])('content in %s', (_name, open) => {
  it('is read back, with its size', async () => {
    const { store } = open().stores;
    const kept = await store.storeBytes('iron', 'no-flush');
    expect(kept).toEqual({ digest: digestBytes('iron'), sizeBytes: 4 });
    expect((await store.read(kept.digest))?.toString()).toBe('iron');
    expect(await store.sizeOf(kept.digest)).toBe(4);
    expect(await store.check(kept.digest)).toBe('found');
    expect(readFileSync((await store.locate(kept.digest)) ?? '', 'utf8')).toBe('iron');
  });

  it('that is not there is missing, and leaves nothing at the path', async () => {
    const { store } = open().stores;
    const digest = digestBytes('iron');
    const path = join(folder, 'copy');
    expect(await store.read(digest)).toBeUndefined();
    expect(await store.sizeOf(digest)).toBeUndefined();
    expect(await store.locate(digest)).toBeUndefined();
    expect(await store.check(digest)).toBe('missing');
    expect(await store.verify(digest)).toBe('missing');
    expect(await store.copyTo(digest, path, false)).toBe('missing');
    expect(existsSync(path)).toBe(false);
  });

  it('is moved in as a file, and copied out with its executable bit', async () => {
    const { store } = open().stores;
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    writeFileSync(from, 'iron');
    await store.takeFile(from, digestBytes('iron'), 'flush');
    expect(existsSync(from)).toBe(false);
    expect(await store.copyTo(digestBytes('iron'), to, true)).toBe('found');
    expect(readFileSync(to, 'utf8')).toBe('iron');
    expect(statSync(to).mode & 0o100).toBe(0o100);
  });

  it('that is damaged everywhere is never given out, and is removed when that is found', async () => {
    const { stores, folders } = open();
    const { digest } = await stores.store.storeBytes('iron', 'no-flush');
    damage(folders, digest);
    expect(await stores.store.read(digest)).toBeUndefined();
    expect(await stores.store.check(digest)).toBe('damaged');
    expect(folders.every(cache => existsSync(cache.blob(digest)))).toBe(true);
    expect(await stores.store.copyTo(digest, join(folder, 'copy'), false)).toBe('damaged');
    expect(existsSync(join(folder, 'copy'))).toBe(false);
    expect(folders.some(cache => existsSync(cache.blob(digest)))).toBe(false);
  });

  it('that is damaged is whole again when it is given once more', async () => {
    const { stores, folders } = open();
    const { digest } = await stores.store.storeBytes('iron', 'no-flush');
    damage(folders, digest);
    await stores.store.storeBytes('iron', 'no-flush');
    expect((await stores.store.read(digest))?.toString()).toBe('iron');
  });

  it('is recorded under the key of its action, with the sizes of all that the record names', async () => {
    const { records } = open().stores;
    expect(await records.find(KEY)).toBeUndefined();
    const result = resultOf('one');
    expect(await records.add(KEY, MANIFEST, result)).toBeUndefined();
    expect(await records.find(KEY)).toEqual({ manifest: MANIFEST, results: [result] });
  });

  it('of a second, different result is recorded in addition to the first, newest last', async () => {
    const { records } = open().stores;
    const [first, second] = [resultOf('one'), resultOf('two')];
    await records.add(KEY, MANIFEST, first);
    expect(await records.add(KEY, MANIFEST, second)).toEqual(first);
    expect(await records.find(KEY)).toEqual({ manifest: MANIFEST, results: [first, second] });
    await records.dropResult(KEY, first);
    await records.dropResult(KEY, second);
    expect(await records.find(KEY)).toBeUndefined();
  });

  it('of a record that does not check is reported as damaged, and replaced by the next result', async () => {
    const { stores, folders } = open();
    await stores.records.add(KEY, MANIFEST, resultOf('one'));
    for (const cache of folders) writeFileSync(cache.record(KEY), 'no record');
    expect(await stores.records.find(KEY)).toBe('damaged');
    await stores.records.noteUse(KEY);
    await stores.records.add(KEY, MANIFEST, resultOf('two'));
    expect(await stores.records.find(KEY)).toEqual({ manifest: MANIFEST, results: [resultOf('two')] });
  });
});

it('a store opened for reading writes nothing', async () => {
  const cache = cacheFolderAt(join(folder, 'own'), join(folder, 'shared'));
  const shared = openStores(cacheFolderAt(join(folder, 'shared')), 'write', 'links', neverWarns);
  const { digest } = await shared.store.storeBytes('iron', 'no-flush');
  await shared.records.add(KEY, MANIFEST, resultOf('one'));
  const { store, records } = openStores(cache, 'read', 'links', neverWarns);
  expect((await store.read(digest))?.toString()).toBe('iron');
  expect(await records.find(KEY)).toEqual({ manifest: MANIFEST, results: [resultOf('one')] });
  expect(existsSync(cache.root)).toBe(false);
});

function damage(folders: readonly CacheFolder[], digest: Digest): void {
  for (const cache of folders) {
    mkdirSync(dirname(cache.blob(digest)), { recursive: true });
    if (existsSync(cache.blob(digest))) chmodSync(cache.blob(digest), 0o600);
    writeFileSync(cache.blob(digest), 'rust');
  }
}

function resultOf(text: string): ActionResult {
  const digest = digestBytes(text);
  return {
    outputs: {
      file: { kind: 'file', digest, sizeBytes: text.length, executable: false },
      all: treeArtifact([{ kind: 'file', path: 'a', digest, sizeBytes: text.length, executable: true }]),
    },
    metrics: { figure: 1 },
    log: { digest, sizeBytes: text.length },
    parts: { digest, sizeBytes: text.length },
    durationMs: 7,
  };
}
