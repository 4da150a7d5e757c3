/** Builds stay right while garbage is collected continuously from the cache that they share. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Digest } from '../../../src/base/digest.js';
import { cacheFolderAt } from '../../../src/engine/store/cache-folder.js';
import { collectGarbage, verifyCache } from '../../../src/engine/store/maintenance/maintain-cache.js';
import type { StageSpec } from '../../support/plan-of.js';
import { givenWorld } from '../../support/world.js';

const STAGES: Readonly<Record<string, StageSpec>> = {
  strip: { uses: 'strip', inputs: { text: 'source.txt' } },
  parts: { uses: 'parts', inputs: { text: 'strip.text' } },
  folders: { uses: 'folders', inputs: { text: 'strip.text' } },
  count: { uses: 'count', inputs: { text: 'strip.text' } },
};
const TWO_HOURS_MS = 2 * 3_600_000;

it('builds of three checkouts are correct while unlocked content is collected every few milliseconds', async () => {
  const shared = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-shared-')));
  const worlds = [1, 2, 3].map(() => givenWorld(STAGES, { 'source.txt': 'one' }));
  const [first] = worlds;
  if (first === undefined) throw new Error('there are three');
  const cache = cacheFolderAt(shared);
  let over = false;
  const collecting = (async () => {
    while (!over) {
      // As if what is new were old: worse than any real collection.
      const wanted = { users: 'checkouts', pins: new Set<Digest>() } as const;
      await collectGarbage(cache, { maxSizeBytes: 1, maxAgeMs: 0 }, 'remove', Date.now() + TWO_HOURS_MS, first.ports(), wanted);
      await wait(3);
    }
  })();
  try {
    for (let round = 0; round < 15; round++) {
      const text = ['a', 'b', 'c'][round % 3] ?? 'a';
      for (const world of worlds) world.write('source.txt', text);
      const ended = await Promise.all(worlds.map(world => world.build({ sharedCache: shared })));
      for (const { report } of ended) expect([...report.stages.values()].filter(({ outcome }) => outcome.kind === 'failed')).toEqual([]);
      for (const world of worlds) expect(world.read('artifacts/strip/text')).toBe(text.toUpperCase());
    }
  } finally {
    over = true;
    await collecting;
  }
  for (const world of worlds) {
    const own = await verifyCache(cacheFolderAt(world.path('cache')), () => undefined, world.ports());
    expect(own).toMatchObject({ damagedBlobs: [], damagedRecords: [] });
    world.remove();
  }
  expect(await verifyCache(cache, () => undefined, first.ports())).toMatchObject({ damagedBlobs: [], damagedRecords: [] });
  rmSync(shared, { recursive: true, force: true });
}, 300_000);
