/** Garbage collection removes only what may go, least recently used first; verification leaves nothing damaged. */
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import { cacheFolderAt } from '../../../src/engine/store/cache-folder.js';
import { takeInventory } from '../../../src/engine/store/maintenance/inventory.js';
import { collectGarbage, verifyCache } from '../../../src/engine/store/maintenance/maintain-cache.js';
import type { World } from '../../support/world.js';
import { givenWorld } from '../../support/world.js';

const CHAIN = { strip: { uses: 'strip', inputs: { text: 'source.txt' } }, count: { uses: 'count', inputs: { text: 'strip.text' } } };

let world: World;
beforeEach(() => {
  world = givenWorld(CHAIN, { 'source.txt': 'one' });
});
afterEach(() => world.remove());

const cache = () => cacheFolderAt(world.path('cache'));
const collect = (limits: Parameters<typeof collectGarbage>[1], mode: 'remove' | 'dry-run' = 'remove', nowMs = Date.now()) =>
  collectGarbage(cache(), limits, mode, nowMs, world.ports());

/** Builds the source's three states in turn. */
async function buildThree(): Promise<void> {
  for (const text of ['one', 'one two', 'one two three']) {
    world.write('source.txt', text);
    await world.build();
  }
}

/** As if every record had been used last at `ms`. */
function ageRecords(ms: number): void {
  for (const { key } of takeInventory(cache()).records) utimesSync(cache().record(key), ms / 1000, ms / 1000);
}

describe('collectGarbage', () => {
  it('without limits removes only content that belongs to no result', async () => {
    await buildThree();
    const stray = digestBytes('stray');
    await world.build();
    mkdirSync(dirname(cache().blob(stray)), { recursive: true });
    writeFileSync(cache().blob(stray), 'stray');

    const plan = await collect({});

    expect(plan.blobs).toEqual([{ digest: stray, sizeBytes: 5 }]);
    expect(plan.records).toEqual([]);
    expect(existsSync(cache().blob(stray))).toBe(false);
    world.write('source.txt', 'one');
    expect((await world.build()).outcomes).toEqual({ strip: 'restored', count: 'restored' });
  });

  it('keeps accepted results at any limits', async () => {
    await buildThree();
    const plan = await collect({ maxSizeBytes: 0, maxAgeMs: 0 }, 'remove', Date.now() + 1000);

    expect(plan.records).toHaveLength(4);
    expect(takeInventory(cache()).records.map(({ accepted }) => accepted)).toEqual([true, true]);
    rmSync(world.path('artifacts'), { recursive: true });
    expect((await world.build()).outcomes).toEqual({ strip: 'restored', count: 'restored' });
    world.write('source.txt', 'one');
    expect((await world.build()).outcomes).toEqual({ strip: 'executed', count: 'executed' });
  });

  it('removes the least recently used results first; a restored result counts as used', async () => {
    await buildThree();
    ageRecords(1_000_000);
    world.write('source.txt', 'one');
    await world.build();
    world.write('source.txt', 'one two three');
    await world.build();

    const plan = await collect({ maxAgeMs: 3_600_000 });

    expect(plan.records).toHaveLength(2);
    world.write('source.txt', 'one');
    expect((await world.build()).outcomes).toEqual({ strip: 'restored', count: 'restored' });
    world.write('source.txt', 'one two');
    expect((await world.build()).outcomes).toEqual({ strip: 'executed', count: 'executed' });
  });

  it('removes only as much as the size limit requires', async () => {
    await buildThree();
    const all = await collect({}, 'dry-run');
    const one = await collect({ maxSizeBytes: all.keptBytes - 1 }, 'dry-run');

    expect(one.records).toHaveLength(1);
    expect(one.keptBytes + one.freedBytes).toBe(all.keptBytes);
  });

  it('keeps a blob that a kept result also uses', async () => {
    world.stages = { a: { uses: 'strip', inputs: { text: 'source.txt' } } };
    await world.build();
    // Another action with the same bytes: the source differs in what the plugin leaves out.
    world.write('source.txt', 'one\n# two');
    await world.build();
    const plan = await collect({ maxSizeBytes: 0 });

    expect(plan.records).toHaveLength(1);
    expect((await verifyCache(cache(), () => undefined, world.ports())).incompleteRecords).toEqual([]);
  });

  it('writes nothing in a dry run', async () => {
    await buildThree();
    const before = takeInventory(cache());
    await collect({ maxSizeBytes: 0 }, 'dry-run');

    expect(takeInventory(cache())).toEqual(before);
  });
});

describe('verifyCache', () => {
  it('removes an incomplete record left by a kill, without reporting damage', async () => {
    await world.build();
    const [record] = takeInventory(cache()).records;
    const unfinished = `${cache().record(record?.key ?? '')}.12bc5b594b6b.tmp`;
    writeFileSync(unfinished, 'the first ha');

    expect((await verifyCache(cache(), () => undefined, world.ports())).damagedRecords).toEqual([]);
    expect(existsSync(unfinished)).toBe(false);
  });

  it('finds no damage in an intact cache', async () => {
    await buildThree();
    const check = await verifyCache(cache(), () => undefined, world.ports());

    expect(check).toMatchObject({ records: 6, damagedBlobs: [], damagedRecords: [], incompleteRecords: [] });
  });

  it('removes flipped blobs and torn records, and the next build makes them again', async () => {
    await buildThree();
    const { blobs, records } = takeInventory(cache());
    const [flipped] = [...blobs.keys()];
    const [torn] = records;
    if (flipped === undefined || torn === undefined) throw new Error('a cache with results is wanted');
    chmodSync(cache().blob(flipped), 0o600);
    appendFileSync(cache().blob(flipped), 'x');
    writeFileSync(cache().record(torn.key), readFileSync(cache().record(torn.key)).subarray(0, 100));

    const check = await verifyCache(cache(), () => undefined, world.ports());

    expect(check.damagedBlobs).toEqual([flipped]);
    expect(check.damagedRecords).toEqual([cache().record(torn.key)]);
    expect(existsSync(cache().blob(flipped))).toBe(false);
    rmSync(world.path('artifacts'), { recursive: true });
    await world.build();
    expect(world.read('artifacts/count/text')).toBe('1\n');
    expect((await verifyCache(cache(), () => undefined, world.ports())).damagedBlobs).toEqual([]);
  });
});
