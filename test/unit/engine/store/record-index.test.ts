/** The index of recorded actions: each record is read once, and what changes is seen. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes, digestJson } from '../../../../src/base/digest.js';
import type { JsonObject } from '../../../../src/base/json.js';
import { openActionRecords } from '../../../../src/engine/store/action-records.js';
import { type CacheFolder, cacheFolderAt } from '../../../../src/engine/store/cache-folder.js';
import { createRecordIndex } from '../../../../src/engine/store/record-index.js';

let folder: string;
let cache: CacheFolder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-records-'));
  cache = cacheFolderAt(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

async function add(manifest: JsonObject, output: string, to = cache): Promise<string> {
  const key = digestJson(manifest);
  const outputs = { out: { kind: 'file', digest: digestBytes(output), sizeBytes: 1, executable: false } as const };
  await openActionRecords(to).add(key, manifest, { outputs, metrics: undefined, log: undefined, durationMs: 1 });
  return key;
}

const manifestOf = (name: string): JsonObject => ({ plugin: 'copy', params: { name }, inputs: { in: { digest: name } } });

describe('the index of recorded actions', () => {
  it('lists the actions of stages without their inputs, and no parts', async () => {
    const key = await add(manifestOf('a'), '1');
    await add({ part: 'sketch', blobs: {} }, '2');

    expect(createRecordIndex().list(cache)).toEqual([
      {
        key,
        plugin: 'copy',
        selfDigest: digestJson({ plugin: 'copy', params: { name: 'a' } }),
        inputs: { in: { digest: 'a' } },
        outputs: [digestBytes('1')],
      },
    ]);
  });

  it('sees records that are added, replaced and removed later', async () => {
    const index = createRecordIndex();
    expect(index.list(cache)).toEqual([]);
    const key = await add(manifestOf('a'), '1');
    expect(index.list(cache)).toHaveLength(1);
    await add(manifestOf('a'), '2');
    expect(index.list(cache)[0]?.outputs).toEqual([digestBytes('1'), digestBytes('2')]);
    await add(manifestOf('b'), '1');
    expect(index.list(cache)).toHaveLength(2);
    rmSync(cache.record(key));
    expect(index.list(cache).map(({ inputs }) => inputs)).toEqual([{ in: { digest: 'b' } }]);
  });

  it('a damaged record is none until it is repaired', async () => {
    const index = createRecordIndex();
    const path = cache.record(await add(manifestOf('a'), '1'));
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, whole.slice(0, -20));
    expect(index.list(cache)).toEqual([]);
    writeFileSync(path, whole);
    expect(index.list(cache)).toHaveLength(1);
  });

  it('reads no folder again that has not changed for a while', async () => {
    const later = Date.now() + 60_000;
    const index = createRecordIndex(() => later);
    const path = cache.record(await add(manifestOf('a'), '1'));
    expect(index.list(cache)).toHaveLength(1);
    // Written in place, as no build does: the folder keeps its stamp.
    writeFileSync(path, 'damaged');
    expect(index.list(cache)).toHaveLength(1);
    expect(createRecordIndex().list(cache)).toEqual([]);
  });

  it('has the records of the shared cache', async () => {
    const shared = cacheFolderAt(join(folder, 'shared'));
    await add(manifestOf('a'), '1', shared);
    const both = cacheFolderAt(folder, join(folder, 'shared'));
    expect(createRecordIndex().list(both)).toHaveLength(1);
  });
});
