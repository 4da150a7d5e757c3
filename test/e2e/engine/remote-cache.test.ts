/** Builds with a remote cache: another machine takes the results, whole or not at all, and gives its own. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeServer } from '../../support/remote/fake-grpc-server.js';
import { createRig, EXECUTED, expectHandOver, givenServer } from '../../support/remote/remote-rig.js';

const { rig, address } = givenServer();

it('a remote cache gives another machine equal bytes without a run, and states what it saved', async () => {
  await expectHandOver(rig, address());
});

it('a build that ignores the results of this machine says why it runs what it has', async () => {
  const world = rig.checkout();
  await rig.build(world, address(), { write: false });
  const { events, outcomes } = await rig.build(world, address(), { write: false, local: 'ignored' });
  expect(outcomes).toEqual(EXECUTED);
  const reasons = new Set(events.flatMap(event => (event.kind === 'stage-started' ? event.reasons : [])));
  expect([...reasons]).toEqual(['the remote cache has no result of it, and those of this machine do not count']);
});

it('a server that asks for a token gets it, and the token is in no file of the project', async () => {
  const token = 'a-token-that-nobody-else-has';
  const server = await startFakeServer({ token });
  const guarded = createRig({
    ...(await import('../../support/remote/quick-connection.js')).QUICK_CONNECTION,
    headers: { authorization: `Bearer ${token}` },
  });
  try {
    const world = guarded.checkout();
    expect((await guarded.build(world, `grpc://127.0.0.1:${server.port}`)).report.remote).toMatchObject({ uploads: 4, troubles: [] });
    const files = readdirSync(world.folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
    const holding = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(token));
    expect(holding.map(({ name }) => name)).toEqual([]);
    expect(existsSync(world.path('cache/history/pipeline.log'))).toBe(true);
    for (const bytes of [...server.blobs.values(), ...server.results.values()]) expect(Buffer.from(bytes).includes(token)).toBe(false);
  } finally {
    guarded.removeAll();
    await server.close();
  }
});
