/** Checkouts that share a cache give each other their results, whole, and keep everything else apart. */
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Digest, digestBytes } from '../../../src/base/digest.js';
import { examineStages } from '../../../src/engine/insight/status/status.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { cacheFolderAt } from '../../../src/engine/store/cache-folder.js';
import { takeInventory } from '../../../src/engine/store/maintenance/inventory.js';
import { collectGarbage, verifyCache } from '../../../src/engine/store/maintenance/maintain-cache.js';
import type { StageSpec } from '../../support/plan-of.js';
import { until } from '../../support/until.js';
import type { World } from '../../support/world.js';
import { givenWorld } from '../../support/world.js';

const STAGES: Readonly<Record<string, StageSpec>> = {
  strip: { uses: 'strip', inputs: { text: 'source.txt' } },
  folders: { uses: 'folders', inputs: { text: 'strip.text' } },
  count: { uses: 'count', inputs: { text: 'strip.text' } },
};
const RESTORED = { strip: 'restored', folders: 'restored', count: 'restored' };
const EXECUTED = { strip: 'executed', folders: 'executed', count: 'executed' };
const UP_TO_DATE = { strip: 'up-to-date', folders: 'up-to-date', count: 'up-to-date' };

let shared: string;
let worlds: World[];
beforeEach(() => {
  shared = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-shared-')));
  worlds = [];
});
afterEach(() => {
  for (const world of worlds) world.remove();
  rmSync(shared, { recursive: true, force: true });
});

function checkout(stages = STAGES): World {
  const world = givenWorld(stages, { 'source.txt': 'one\ntwo' });
  worlds.push(world);
  return world;
}

const using = () => ({ sharedCache: shared });
const BESIDE = { users: 'checkouts', pins: new Set<Digest>() } as const;
const content = () => cacheFolderAt(shared);

describe('a second checkout', () => {
  it('reuses the results of the first, and has its own state, logs and artifacts', async () => {
    const first = checkout();
    const second = checkout();
    expect((await first.build(using())).outcomes).toEqual(EXECUTED);
    expect((await second.build(using())).outcomes).toEqual(RESTORED);

    expect(second.read('artifacts/folders/all/text.txt')).toBe(first.read('artifacts/folders/all/text.txt'));
    expect(readdirSync(shared).sort()).toEqual(['.tanren', 'action-locks', 'actions', 'cas']);
    expect(second.read('cache/logs/pipeline/count.log')).toContain('counted 2 lines');
    expect((await second.build(using())).outcomes).toEqual(UP_TO_DATE);
    expect((await first.build(using())).outcomes).toEqual(UP_TO_DATE);
  });

  it('does not need the shared cache for results that it has copied', async () => {
    await checkout().build(using());
    const second = checkout();
    await second.build(using());
    rmSync(shared, { recursive: true });
    rmSync(second.path('artifacts'), { recursive: true });

    expect((await second.build()).outcomes).toEqual(RESTORED);
    expect((await verifyCache(cacheFolderAt(second.path('cache')), () => undefined, second.ports())).incompleteRecords).toEqual([]);
  });

  it('switches between states that the other checkout has built', async () => {
    const first = checkout();
    const second = checkout();
    await first.build(using());
    first.write('source.txt', 'three');
    await first.build(using());
    second.write('source.txt', 'three');

    expect((await second.build(using())).outcomes).toEqual(RESTORED);
    second.write('source.txt', 'one\ntwo');
    expect((await second.build(using())).outcomes).toEqual(RESTORED);
  });

  it('reports in a dry run what it would restore, and writes nothing', async () => {
    await checkout().build(using());
    const second = checkout();
    const before = readdirSync(second.folder, { recursive: true });
    const examined = await examineStages(await second.plan(), { targets: 'all', force: 'never', ...using() }, second.ports());

    expect([...examined.values()].map(({ status }) => status.kind)).toEqual(['restorable', 'restorable', 'restorable']);
    expect(readdirSync(second.folder, { recursive: true })).toEqual(before);
  });

  it('also reuses parts', async () => {
    const stages = { parts: { uses: 'parts', inputs: { text: 'source.txt' } } };
    const first = checkout(stages);
    await first.build(using());
    const parts = takeInventory(content()).records.filter(({ of }) => of.kind === 'part').length;
    const second = checkout(stages);
    await second.build({ ...using(), targets: ['parts' as StageId] });

    expect(parts).toBeGreaterThan(0);
    expect(second.read('artifacts/parts/text')).toBe(first.read('artifacts/parts/text'));
  });

  it('reuses the platform class that another checkout computed on this machine', async () => {
    const stages = { model: { uses: 'model', inputs: { text: 'source.txt' } } };
    let computed = 0;
    const platformClass = {
      guard: () => 'guard',
      compute: async () => {
        computed++;
        return 'class';
      },
    };
    await checkout(stages).build(using(), { platformClass });
    await checkout(stages).build(using(), { platformClass });

    expect(computed).toBe(1);
  });

  it('has its own results if the sources differ', async () => {
    await checkout().build(using());
    const second = checkout();
    second.write('source.txt', 'another');

    expect((await second.build(using())).outcomes).toEqual(EXECUTED);
    expect(second.read('artifacts/strip/text')).toBe('ANOTHER');
  });
});

describe('checkouts that build at once', () => {
  it('run each action in one of them, and different actions in parallel', async () => {
    const go = join(shared, 'go');
    const trace = join(shared, 'trace');
    const stages = (label: string): Readonly<Record<string, StageSpec>> => ({
      act: { uses: 'act', inputs: { text: 'source.txt' }, params: { until: go, trace } },
      strip: { uses: 'strip', inputs: { text: 'act.text' } },
      own: { uses: 'act', inputs: { text: 'source.txt' }, params: { add: label } },
    });
    const all = ['a', 'b', 'c'].map(label => checkout(stages(label)));
    let waiting = 0;
    const builds = all.map(world =>
      world.build(
        { ...using(), jobs: 1 },
        {
          emit: event => {
            if (event.kind === 'waiting-for-run') waiting++;
          },
        },
      ),
    );
    // Each has one slot: its own stage gets done although another checkout has the turn of `act`.
    await until(() => waiting === 2 && all.filter(world => existsSync(world.path('artifacts/own'))).length >= 2);
    writeFileSync(go, '');
    const ended = await Promise.all(builds);

    expect(ended.map(({ outcomes }) => outcomes.act).sort()).toEqual(['executed', 'restored', 'restored']);
    expect(ended.map(({ outcomes }) => outcomes.own)).toEqual(['executed', 'executed', 'executed']);
    expect(readFileSync(trace, 'utf8')).toBe('start \nend \n');
    expect(new Set(all.map(world => world.read('artifacts/strip/text'))).size).toBe(1);
  });

  it('try one after the other if the action fails', async () => {
    const stages = { act: { uses: 'act', inputs: { text: 'source.txt' }, params: { end: 'throw' } } };
    const ended = await Promise.all([checkout(stages), checkout(stages)].map(world => world.build(using())));

    expect(ended.map(({ outcomes }) => outcomes.act)).toEqual(['failed', 'failed']);
  });

  it('can be cancelled while they wait', async () => {
    const go = join(shared, 'go');
    const stages = { act: { uses: 'act', inputs: { text: 'source.txt' }, params: { until: go, trace: join(shared, 'trace') } } };
    const first = checkout(stages).build(using());
    await until(() => existsSync(join(shared, 'trace')));
    const abort = new AbortController();
    const second = checkout(stages).build(using(), {
      signal: abort.signal,
      emit: event => {
        if (event.kind === 'waiting-for-run') abort.abort();
      },
    });

    expect((await second).outcomes).toEqual({ act: 'cancelled' });
    writeFileSync(go, '');
    expect((await first).outcomes).toEqual({ act: 'executed' });
  });
});

describe('a shared cache', () => {
  it('with a damaged blob gives no wrong byte: the build that finds the blob repairs it', async () => {
    await checkout().build(using());
    for (const digest of takeInventory(content()).blobs.keys()) {
      chmodSync(content().blob(digest), 0o600);
      appendFileSync(content().blob(digest), 'x');
    }
    const second = checkout();
    const { outcomes, warnings } = await second.build(using());

    expect(outcomes).toEqual(EXECUTED);
    expect(warnings).toContain('cache-damaged');
    expect(second.read('artifacts/strip/text')).toBe('ONE\nTWO');
    expect(await verifyCache(content(), () => undefined, second.ports())).toMatchObject({ damagedBlobs: [], incompleteRecords: [] });
  });

  it('with missing blobs is a miss', async () => {
    await checkout().build(using());
    rmSync(join(shared, 'cas'), { recursive: true });

    expect((await checkout().build(using())).outcomes).toEqual(EXECUTED);
    expect((await checkout().build(using())).outcomes).toEqual(RESTORED);
  });

  it('that cannot be written is reported once, and the build continues without it', async () => {
    rmSync(shared, { recursive: true });
    writeFileSync(shared, 'a file in its place');
    const world = checkout();
    const { outcomes, warnings } = await world.build(using());

    expect(outcomes).toEqual(EXECUTED);
    expect(warnings.filter(code => code === 'shared-cache-failed')).toHaveLength(1);
    expect(warnings).not.toContain('cache-write-failed');
    rmSync(world.path('artifacts'), { recursive: true });
    expect((await world.build()).outcomes).toEqual(RESTORED);
  });

  it('is readable only by its owner', async () => {
    rmSync(shared, { recursive: true });
    await checkout().build(using());

    expect(statSync(shared).mode & 0o077).toBe(0);
    for (const entry of readdirSync(shared, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) expect(statSync(join(entry.parentPath, entry.name)).mode & 0o077).toBe(0);
  });

  it('can be the cache of another checkout', async () => {
    const first = checkout();
    await first.build();
    const second = checkout();

    expect((await second.build({ sharedCache: first.path('cache') })).outcomes).toEqual(RESTORED);
    expect((await first.build({ sharedCache: first.path('cache') })).outcomes).toEqual(UP_TO_DATE);
  });

  it('is not changed by edits of artifacts that are links to blobs', async () => {
    const first = checkout();
    const second = checkout();
    for (const world of [first, second]) await world.build(using(), { artifacts: 'links' });
    chmodSync(first.path('artifacts/strip/text'), 0o600);
    appendFileSync(first.path('artifacts/strip/text'), 'x');

    expect(second.read('artifacts/strip/text')).toBe('ONE\nTWO');
    expect((await second.build(using(), { artifacts: 'links' })).outcomes).toEqual(UP_TO_DATE);
    expect((await verifyCache(content(), () => undefined, second.ports())).damagedBlobs).toEqual([]);
  });

  it('shares the disk space of blobs on the same file system', async () => {
    const first = checkout();
    await first.build(using());
    const digest = digestBytes('ONE\nTWO');

    expect(statSync(content().blob(digest)).ino).toBe(statSync(cacheFolderAt(first.path('cache')).blob(digest)).ino);
  });
});

describe('a moved or copied checkout', () => {
  it('that was copied with its cache runs nothing, and both continue independently', async () => {
    const first = checkout();
    await first.build();
    const second = checkout();
    for (const name of ['cache', 'artifacts'])
      cpSync(first.path(name), second.path(name), { recursive: true, filter: path => !path.includes('/lock/') });

    const { outcomes } = await second.build();
    expect(Object.values(outcomes)).not.toContain('executed');
    second.write('source.txt', 'other');
    expect((await second.build()).outcomes).toEqual(EXECUTED);
    expect((await first.build()).outcomes).toEqual(UP_TO_DATE);
    expect(first.read('artifacts/strip/text')).toBe('ONE\nTWO');
  });

  it('whose cache was copied during a build at worst runs more stages', async () => {
    const first = checkout();
    const second = checkout();
    let copies = 0;
    await first.build(
      {},
      {
        emit: event => {
          if (event.kind !== 'outcome' && event.kind !== 'stage-started') return;
          copies++;
          rmSync(second.path('cache'), { recursive: true, force: true });
          cpSync(first.path('cache'), second.path('cache'), { recursive: true, filter: path => !path.includes('/lock') });
        },
      },
    );
    const { report } = await second.build();

    expect(copies).toBeGreaterThan(3);
    expect(report.conclusion).toBe('built');
    expect(second.read('artifacts/folders/all/text.txt')).toBe(first.read('artifacts/folders/all/text.txt'));
  });
});

describe('garbage of a shared cache', () => {
  it('keeps new unreferenced blobs, because another checkout may be about to use them', async () => {
    const world = checkout();
    await world.build(using());
    const stray = digestBytes('stray');
    mkdirSync(join(shared, 'cas', stray.slice(0, 2)), { recursive: true });
    writeFileSync(content().blob(stray), 'stray');
    const collect = (nowMs: number) => collectGarbage(content(), {}, 'remove', nowMs, world.ports(), BESIDE);

    expect(await collect(Date.now())).toMatchObject({ blobs: [], records: [] });
    expect((await collect(Date.now() + 2 * 3_600_000)).blobs).toHaveLength(1);
    expect(existsSync(content().blob(stray))).toBe(false);
  });

  it('removes released action locks, and keeps those that are held', async () => {
    const world = checkout();
    await world.build(using());
    const held = join(shared, 'action-locks', 'held');
    const { acquireLock } = await import('../../../src/engine/store/lock/lock.js');
    const lock = await acquireLock(held, { signal: new AbortController().signal, onWaiting: () => undefined });
    expect(readdirSync(join(shared, 'action-locks'))).toHaveLength(4);
    await collectGarbage(content(), {}, 'remove', Date.now() + 2 * 3_600_000, world.ports(), BESIDE);

    expect(readdirSync(join(shared, 'action-locks'))).toEqual(['held']);
    await lock.release();
  });
});
