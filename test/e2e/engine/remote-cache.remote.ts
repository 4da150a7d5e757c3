/** Builds with a remote cache: another machine takes the results, whole or not at all, and gives its own. */
import { type FakeServer, startFakeServer } from '../../support/remote/fake-grpc-server.js';
import { type FakeHttpServer, startFakeHttpServer } from '../../support/remote/fake-http-server.js';
import { startGrpcProxy } from '../../support/remote/grpc-proxy.js';
import { startHttpProxy } from '../../support/remote/http-proxy.js';
import { artifactsOf, createRig, EXECUTED, expectHandOver, RESTORED, UP_TO_DATE } from '../../support/remote/remote-rig.js';
import type { World } from '../../support/world.js';

const rig = createRig();
let grpc: FakeServer;
let http: FakeHttpServer;
beforeEach(async () => {
  grpc = await startFakeServer();
  http = await startFakeHttpServer();
});
afterEach(async () => {
  rig.removeAll();
  await grpc.close();
  await http.close();
});

describe.each([
  ['gRPC', () => `grpc://127.0.0.1:${grpc.port}/main`],
  ['HTTP', () => `http://127.0.0.1:${http.port}/main`],
])('a remote cache over %s', (_name, address) => {
  it('gives another machine equal bytes without a run, and states what it saved', async () => {
    await expectHandOver(rig, address());
  });

  it('is not asked for what the local cache has', async () => {
    const world = rig.checkout();
    await rig.build(world, address());
    const { calls } = grpc;
    const before = calls.length + http.requests.length;
    expect((await rig.build(world, address())).outcomes).toEqual(UP_TO_DATE);
    expect(calls.length + http.requests.length).toBe(before);
  });

  it('that may only be read gets nothing', async () => {
    await rig.build(rig.checkout(), address(), { write: false });
    expect(grpc.calls.filter(name => /update|write/i.test(name))).toEqual([]);
    expect(http.requests.filter(request => !/^(GET|HEAD) /.test(request))).toEqual([]);
    expect(grpc.blobs.size + http.bodies.size).toBe(0);
  });

  it('that alone counts replaces what the local cache has', async () => {
    const first = rig.checkout();
    await rig.build(first, address());
    expect((await rig.build(first, address(), { local: 'ignored' })).outcomes).toEqual(RESTORED);
    const alone = rig.checkout();
    await alone.build();
    for (const map of [grpc.results, grpc.blobs, http.bodies]) map.clear();
    expect((await rig.build(alone, address(), { local: 'ignored' })).outcomes).toEqual(EXECUTED);
  });

  it('with another salt has other results', async () => {
    await rig.build(rig.checkout(), address());
    expect((await rig.build(rig.checkout(), address(), { salt: 'new' })).outcomes).toEqual(EXECUTED);
  });

  it('gets no result of a stage that failed, was measured, or has a secret', async () => {
    const world = rig.checkout({
      strip: { uses: 'strip', inputs: { text: 'source.txt' } },
      measure: { uses: 'measure', inputs: { text: 'strip.text' } },
      secret: { uses: 'strip', inputs: { text: 'strip.text' }, secrets: ['TOKEN_OF_STAGE'] },
      fails: { uses: 'act', params: { end: 'throw' }, inputs: { text: 'strip.text' } },
    });
    world.environment.TOKEN_OF_STAGE = 'hidden';
    const { report, outcomes } = await rig.build(world, address(), {}, { failures: 'keep-going' });
    expect(outcomes).toEqual({ strip: 'executed', measure: 'executed', secret: 'executed', fails: 'failed' });
    expect(report.remote?.uploads).toBe(1);
  });

  it.each([
    ['no', 'different', 0],
    ['yes', 'same', 1],
  ])('gets a result that is checked only if it was reproduced: %s', async (reproduces, verdict, uploads) => {
    const params = reproduces === 'yes' ? {} : { random: 'wild' };
    const world = rig.checkout({ act: { uses: 'act', params, inputs: { text: 'source.txt' } } });
    const { report } = await rig.build(world, address(), {}, { check: 'targets' });
    expect(report.checks.map(check => check.verdict)).toEqual([verdict]);
    expect(report.remote?.uploads).toBe(uploads);
  });
});

it('an entry that was written over gRPC is read over HTTP, and the other way round', async () => {
  const first = rig.checkout();
  await rig.build(first, `grpc://127.0.0.1:${grpc.port}`);
  for (const [name, bytes] of grpc.blobs) http.bodies.set(`/cas/${name.split('/')[0]}`, bytes);
  for (const [hash, bytes] of grpc.results) http.bodies.set(`/ac/${hash}`, Buffer.from(bytes));
  const second = rig.checkout();
  expect((await rig.build(second, `http://127.0.0.1:${http.port}`)).outcomes).toEqual(RESTORED);
  expect(artifactsOf(second)).toEqual(artifactsOf(first));
  http.bodies.clear();
  grpc.blobs.clear();
  grpc.results.clear();
  await rig.build(rig.checkout(), `http://127.0.0.1:${http.port}`);
  for (const [path, bytes] of http.bodies) {
    const hash = path.slice(path.lastIndexOf('/') + 1);
    if (path.startsWith('/cas/')) grpc.blobs.set(`${hash}/${bytes.length}`, bytes);
    else grpc.results.set(hash, bytes);
  }
  expect((await rig.build(rig.checkout(), `grpc://127.0.0.1:${grpc.port}`)).outcomes).toEqual(RESTORED);
});

describe('a cache with faults never gives a wrong or failed build:', () => {
  const expectBuilt = async (address: string, world: World, most = 3): Promise<void> => {
    const { report, outcomes, warnings } = await rig.build(world, address);
    expect(report.conclusion).toBe('built');
    expect(Object.values(outcomes).filter(kind => kind === 'failed')).toEqual([]);
    expect(report.remote?.troubles.length).toBeGreaterThan(0);
    expect(warnings.filter(code => code === 'remote-cache-failed').length).toBe(report.remote?.troubles.length);
    expect(warnings.length).toBeLessThanOrEqual(most);
    alone ??= await artifactsAlone();
    expect(artifactsOf(world)).toEqual(alone);
  };
  let alone: Readonly<Record<string, string>> | undefined;
  const artifactsAlone = async (): Promise<Readonly<Record<string, string>>> => {
    const world = rig.checkout();
    await world.build();
    return artifactsOf(world);
  };

  it.each([
    ['500', { kind: 'status', code: 500 }],
    ['429', { kind: 'status', code: 429, headers: { 'retry-after': '7200' } }],
    ['an expired token', { kind: 'status', code: 401 }],
    ['a redirect', { kind: 'status', code: 307, headers: { location: 'https://elsewhere.example.com/' } }],
    ['resets', { kind: 'reset' }],
    ['wrong bytes', { kind: 'wrong-bytes' }],
    ['bodies that are cut', { kind: 'cut' }],
  ] as const)('%s over HTTP', async (_what, fault) => {
    await rig.build(rig.checkout(), `http://127.0.0.1:${http.port}`);
    const proxy = await startHttpProxy(http.port, () => fault);
    await expectBuilt(`http://127.0.0.1:${proxy.port}`, rig.checkout());
    await proxy.close();
  });

  it.each([
    ['a server that went away', () => grpc.close()],
    ['lost blobs behind a hit', async () => grpc.blobs.clear()],
    [
      'a result of another action under the key',
      async () => {
        const [first, ...others] = [...grpc.results.keys()];
        const poison = grpc.results.get(first ?? '') ?? new Uint8Array(0);
        for (const key of others) grpc.results.set(key, poison);
      },
    ],
    [
      'results that are no messages',
      async () => {
        for (const key of grpc.results.keys()) grpc.results.set(key, Buffer.from('0a05', 'hex'));
      },
    ],
  ])('%s over gRPC', async (_what, spoil) => {
    const address = `grpc://127.0.0.1:${grpc.port}`;
    await rig.build(rig.checkout(), address);
    await spoil();
    await expectBuilt(address, rig.checkout(), 4);
  });

  it('two machines that race for one key', async () => {
    const [one, two] = [rig.checkout(), rig.checkout()];
    const address = `grpc://127.0.0.1:${grpc.port}`;
    const built = await Promise.all([rig.build(one, address), rig.build(two, address)]);
    expect(built.map(({ report }) => report.conclusion)).toEqual(['built', 'built']);
    expect(artifactsOf(one)).toEqual(artifactsOf(two));
    expect((await rig.build(rig.checkout(), address)).outcomes).toEqual(RESTORED);
  });
});

it('a build that requires the cache fails without it, with a code', async () => {
  const address = `grpc://127.0.0.1:${grpc.port}`;
  await grpc.close();
  const { report } = await rig.build(rig.checkout(), address, { need: 'required' });
  expect(report.conclusion).toBe('failed');
  expect(report.stages.get('strip' as never)?.outcome).toMatchObject({ kind: 'failed', failure: { code: 'remote-failed' } });
});

it('an interrupted build waits for uploads a while, and names what it dropped', async () => {
  const proxy = await startGrpcProxy(grpc.port, ({ method }) => (method === 'updateResult' ? { kind: 'hang' } : undefined));
  const abort = new AbortController();
  const world = rig.checkout({ strip: { uses: 'strip', inputs: { text: 'source.txt' } } });
  const started = performance.now();
  const emit = (event: { readonly kind: string }): void => {
    if (event.kind === 'uploading') abort.abort();
  };
  const { report } = await rig.build(world, `grpc://127.0.0.1:${proxy.port}`, {}, {}, { signal: abort.signal, emit });
  expect(performance.now() - started).toBeLessThan(12_000);
  expect(report.remote).toMatchObject({ uploads: 0, dropped: ['strip'] });
  expect(grpc.results.size).toBe(0);
  await proxy.close();
});
