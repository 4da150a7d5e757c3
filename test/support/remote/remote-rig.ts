/** Builds of a small project with a remote cache: fake servers in memory, and proxies with faults in front of them. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getDefined } from '../../../src/base/invariant.js';
import type { BuildOptions } from '../../../src/engine/build.js';
import type { EnginePorts } from '../../../src/engine/model/ports.js';
import type { RemoteUse } from '../../../src/engine/store/remote/remote-use.js';
import { parseRemoteAddress } from '../../../src/remote/address/remote-address.js';
import { openRemoteCache } from '../../../src/remote/open-remote-cache.js';
import type { Connection } from '../../../src/remote/transport/remote-cache.js';
import type { StageSpec } from '../plan-of.js';
import { type Built, givenWorld, type World } from '../world.js';
import { type FakeServer, startFakeServer } from './fake-grpc-server.js';
import { QUICK_CONNECTION } from './quick-connection.js';

export const STAGES: Readonly<Record<string, StageSpec>> = {
  strip: { uses: 'strip', inputs: { text: 'source.txt' } },
  folders: { uses: 'folders', inputs: { text: 'strip.text' } },
  count: { uses: 'count', inputs: { text: 'strip.text' } },
  lines: { uses: 'parts', inputs: { text: 'source.txt' } },
};

export interface Rig {
  /** A new machine: the same sources, an empty cache. */
  checkout(stages?: Readonly<Record<string, StageSpec>>): World;
  /** Builds with the cache at an address. The connection is closed at the end. */
  build(
    world: World,
    address: string,
    use?: Partial<RemoteUse>,
    options?: Partial<BuildOptions>,
    extra?: Partial<EnginePorts>,
  ): Promise<Built>;
  removeAll(): void;
}

export function createRig(connection: Connection = QUICK_CONNECTION): Rig {
  const worlds: World[] = [];
  return {
    checkout(stages = STAGES) {
      const world = givenWorld(stages, { 'source.txt': 'one\ntwo' });
      worlds.push(world);
      return world;
    },
    async build(world, address, use = {}, options = {}, extra = {}) {
      const parsed = parseRemoteAddress(address);
      const cache = await openRemoteCache(parsed, connection);
      const whole: RemoteUse = {
        cache,
        address: parsed.url,
        read: true,
        write: true,
        local: 'used',
        need: 'optional',
        salt: '',
        mask: text => text,
        ...use,
      };
      try {
        return await world.build({ remote: whole, ...options }, extra);
      } finally {
        cache.close();
      }
    },
    removeAll() {
      for (const world of worlds.splice(0)) world.remove();
    },
  };
}

/** The text of every published file by its path in the project. */
export function artifactsOf(world: World): Readonly<Record<string, string>> {
  const names = readdirSync(world.path('artifacts'), { recursive: true, withFileTypes: true }).filter(
    entry => entry.isFile() && entry.name !== '.tanren',
  );
  return Object.fromEntries(
    names.map(({ parentPath, name }) => [join(parentPath, name).slice(world.folder.length), readFileSync(join(parentPath, name), 'utf8')]),
  );
}

/** A rig, and for each test of a suite an empty server that speaks gRPC. */
export function givenServer(): { readonly rig: Rig; server(): FakeServer; address(): string } {
  const rig = createRig();
  let running: FakeServer | undefined;
  const server = (): FakeServer => getDefined(running, 'a running server');
  beforeEach(async () => {
    running = await startFakeServer();
  });
  afterEach(async () => {
    rig.removeAll();
    await running?.close();
  });
  return { rig, server, address: () => `grpc://127.0.0.1:${server().port}/main` };
}

/** How the stages of `STAGES` end. */
export const EXECUTED = { strip: 'executed', folders: 'executed', count: 'executed', lines: 'executed' };
export const RESTORED = { strip: 'restored', folders: 'restored', count: 'restored', lines: 'restored' };
export const UP_TO_DATE = { strip: 'up-to-date', folders: 'up-to-date', count: 'up-to-date', lines: 'up-to-date' };

/** One machine builds, another one takes the results: equal bytes without a run, and a report that states what was saved. */
export async function expectHandOver(rig: Rig, address: string): Promise<void> {
  const first = rig.checkout();
  const sent = await rig.build(first, address);
  expect(sent.outcomes).toEqual(EXECUTED);
  expect(sent.report.remote).toMatchObject({ hits: 0, misses: 4, uploads: 4, troubles: [], dropped: [] });
  const second = rig.checkout();
  const taken = await rig.build(second, address);
  expect(taken.outcomes).toEqual(RESTORED);
  expect(taken.report.stages.get('strip' as never)?.outcome).toMatchObject({ kind: 'restored', from: 'remote' });
  expect(taken.report.remote).toMatchObject({ hits: 4, misses: 0, uploads: 0, troubles: [] });
  expect(taken.report.remote?.savedMs).toBeGreaterThan(0);
  expect(artifactsOf(second)).toEqual(artifactsOf(first));
  expect(second.read('cache/logs/pipeline/lines.log')).toBe(first.read('cache/logs/pipeline/lines.log'));
  expect([...sent.warnings, ...taken.warnings]).toEqual([]);
  expect((await second.build()).outcomes).toEqual(UP_TO_DATE);
}
