/** Parts of stages in a remote cache: another machine takes them in packs for a stage that it has to run. */
import { chmodSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { pullResults } from '../../../src/engine/move-results.js';
import { cacheFolderAt } from '../../../src/engine/store/cache-folder.js';
import type { RemoteUse } from '../../../src/engine/store/remote/remote-use.js';
import { parseRemoteAddress } from '../../../src/remote/address/remote-address.js';
import { openRemoteCache } from '../../../src/remote/open-remote-cache.js';
import { startFakeServer } from '../../support/remote/fake-grpc-server.js';
import { startFakeHttpServer } from '../../support/remote/fake-http-server.js';
import { QUICK_CONNECTION } from '../../support/remote/quick-connection.js';
import { givenServer } from '../../support/remote/remote-rig.js';
import type { Built, World } from '../../support/world.js';

const { rig, server, address: grpc } = givenServer();

const STAGES = { lines: { uses: 'parts', inputs: { text: 'source.txt' } } };
const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index}`).join('\n');

function machine(count: number): World {
  const world = rig.checkout(STAGES);
  world.write('source.txt', lines(count));
  return world;
}

function partsOf({ events }: Built): Readonly<Record<string, number>> {
  const answers = events.flatMap(event => (event.kind === 'span' && event.what === 'part' ? [event.part?.answer ?? ''] : []));
  return Object.fromEntries(['kept', 'computed'].map(answer => [answer, answers.filter(one => one === answer).length]));
}

it.each([
  [
    'gRPC',
    async () =>
      startFakeServer().then(server => ({ server, address: `grpc://127.0.0.1:${server.port}/main`, count: () => server.calls.length })),
  ],
  [
    'HTTP',
    async () =>
      startFakeHttpServer().then(server => ({ server, address: `http://127.0.0.1:${server.port}`, count: () => server.requests.length })),
  ],
])('a changed stage takes the parts of another machine over %s in a few calls', async (_name, start) => {
  const { server, address, count } = await start();
  try {
    const first = await rig.build(machine(150), address);
    expect(partsOf(first)).toEqual({ kept: 0, computed: 150 });
    const sent = count();
    expect(sent).toBeLessThan(40);

    const second = machine(151);
    const built = await rig.build(second, address);
    expect(built.outcomes).toEqual({ lines: 'executed' });
    expect(partsOf(built)).toEqual({ kept: 150, computed: 1 });
    expect(count() - sent).toBeLessThan(50);
    expect([...first.warnings, ...built.warnings]).toEqual([]);

    const alone = machine(151);
    await alone.build();
    expect(second.read('artifacts/lines/text')).toBe(alone.read('artifacts/lines/text'));
    // The one part is in a further pack, and the first pack is not sent again.
    expect(partsOf(await rig.build(machine(152), address, { write: false }))).toEqual({ kept: 151, computed: 1 });
  } finally {
    await server.close();
  }
});

it('a machine that only reads sends nothing, and one that only writes asks for no part', async () => {
  await rig.build(machine(3), grpc(), { write: false });
  expect(server().results.size).toBe(0);
  await rig.build(machine(3), grpc());
  expect(partsOf(await rig.build(machine(4), grpc(), { read: false }))).toEqual({ kept: 0, computed: 4 });
});

it('packs and indexes with other bytes are one warning each, and the parts are computed', async () => {
  const server = await startFakeHttpServer();
  try {
    const address = `http://127.0.0.1:${server.port}`;
    await rig.build(machine(20), address);
    const alone = machine(21);
    await alone.build();
    for (const [path, body] of [...server.bodies]) {
      if (!path.startsWith('/cas/') || !/^(tanren-pack|\{"format":1,"packs")/.test(body.toString('latin1'))) continue;
      server.bodies.set(path, Buffer.concat([body.subarray(0, -1), Buffer.from('!')]));
      const world = machine(21);
      const built = await rig.build(world, address, { write: false });
      expect(partsOf(built)).toEqual({ kept: 0, computed: 21 });
      expect(built.warnings).toEqual(['remote-cache-failed']);
      expect(world.read('artifacts/lines/text')).toBe(alone.read('artifacts/lines/text'));
      server.bodies.set(path, body);
    }
    for (const path of [...server.bodies.keys()])
      if (server.bodies.get(path)?.toString('latin1').startsWith('tanren-pack')) server.bodies.delete(path);
    const evicted = await rig.build(machine(21), address, { write: false });
    expect([partsOf(evicted), evicted.warnings]).toEqual([{ kept: 0, computed: 21 }, []]);
  } finally {
    await server.close();
  }
});

it('pull fetches the parts of results and of stages without one, and a changed stage needs no server then', async () => {
  await rig.build(machine(40), grpc());
  const pull = async (count: number, parts: 'fetch' | 'leave') => {
    const world = machine(count);
    const cache = await openRemoteCache(parseRemoteAddress(grpc()), QUICK_CONNECTION);
    const use: RemoteUse = { cache, address: '', read: true, write: false, local: 'used', need: 'optional', salt: '', mask: text => text };
    const order = { plan: await world.plan(), targets: 'all', cache: cacheFolderAt(world.path('cache')), use } as const;
    const moved = await pullResults(order, world.ports(), parts).finally(() => cache.close());
    return { world, moved };
  };
  const same = await pull(40, 'fetch');
  expect(same.moved).toMatchObject({ done: ['lines'], parts: 40 });
  same.world.write('source.txt', lines(41));
  expect(partsOf(await same.world.build())).toEqual({ kept: 40, computed: 1 });
  const changed = await pull(41, 'fetch');
  expect(changed.moved).toMatchObject({ without: ['lines'], parts: 40 });
  expect(partsOf(await changed.world.build())).toEqual({ kept: 40, computed: 1 });
  const without = await pull(40, 'leave');
  expect(without.moved).toMatchObject({ done: ['lines'], parts: 0 });
  without.world.write('source.txt', lines(41));
  expect(partsOf(await without.world.build())).toEqual({ kept: 0, computed: 41 });
});

it('pull fetches a local result again of which a blob is missing or damaged', async () => {
  await rig.build(machine(3), grpc());
  const world = machine(3);
  await rig.build(world, grpc());
  const pull = async () => {
    const cache = await openRemoteCache(parseRemoteAddress(grpc()), QUICK_CONNECTION);
    const use: RemoteUse = { cache, address: '', read: true, write: false, local: 'used', need: 'optional', salt: '', mask: text => text };
    const order = { plan: await world.plan(), targets: 'all', cache: cacheFolderAt(world.path('cache')), use } as const;
    return pullResults(order, world.ports(), 'leave').finally(() => cache.close());
  };
  expect(await pull()).toMatchObject({ done: ['lines'], remote: { downloadedBytes: 0 } });
  rmSync(world.path('cache/cas'), { recursive: true });
  const again = await pull();
  expect(again.done).toEqual(['lines']);
  expect(again.remote.downloadedBytes).toBeGreaterThan(0);

  const blobs = readdirSync(world.path('cache/cas'), { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  for (const { parentPath, name } of blobs) {
    chmodSync(join(parentPath, name), 0o600);
    truncateSync(join(parentPath, name), 0);
  }
  expect((await pull()).remote.downloadedBytes).toBeGreaterThan(0);
  rmSync(world.path('artifacts/lines'), { recursive: true });
  const built = await world.build();
  expect([built.outcomes, built.warnings]).toEqual([{ lines: 'restored' }, []]);
});
