/** Faults between a client and a remote cache: what passes is tried again, what does not ends with a code, and wrong bytes are never given out. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes } from '../../src/base/digest.js';
import { parseRemoteAddress } from '../../src/remote/address/remote-address.js';
import { openRemoteCache } from '../../src/remote/open-remote-cache.js';
import type { Connection, RemoteCache } from '../../src/remote/transport/remote-cache.js';
import { RETRY_INFO, STATUS } from '../../src/remote/wire/reapi.js';
import { type FakeServer, type FakeServerOptions, startFakeServer } from '../support/remote/fake-grpc-server.js';
import { type FakeHttpServer, startFakeHttpServer } from '../support/remote/fake-http-server.js';
import { type Fault, type GrpcProxy, type Passing, startGrpcProxy } from '../support/remote/grpc-proxy.js';
import { type Asked, type HttpFault, type HttpProxy, startHttpProxy } from '../support/remote/http-proxy.js';
import { QUICK_CONNECTION } from '../support/remote/quick-connection.js';
import { blobOf, playSession } from '../support/remote/remote-contract.js';

const UNAVAILABLE = 14;
const RESOURCE_EXHAUSTED = 8;
const UNAUTHENTICATED = 16;

let folder: string;
let ends: (() => Promise<void> | void)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-faults-'));
  ends = [];
});
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
});

const ACTION = { hash: digestBytes('action'), sizeBytes: 6 };
const SMALL = blobOf(Buffer.from('iron'));
/** Above the limit of a batch, so that it is streamed. */
const LARGE = blobOf(Buffer.alloc(1_200_000, 'steel'));
interface OverGrpc {
  readonly cache: RemoteCache;
  readonly server: FakeServer;
  readonly proxy: GrpcProxy;
}

async function overGrpc(
  fault: (message: Passing) => Fault | undefined,
  options: FakeServerOptions = {},
  connection: Connection = QUICK_CONNECTION,
): Promise<OverGrpc> {
  const server = await startFakeServer({ batchBytes: 100_000, ...options });
  const proxy = await startGrpcProxy(server.port, fault);
  const cache = await openRemoteCache(parseRemoteAddress(`grpc://127.0.0.1:${proxy.port}`), connection);
  ends.push(server.close, proxy.close, () => cache.close());
  return { cache, server, proxy };
}

async function overHttp(fault: (asked: Asked) => HttpFault | undefined, connection: Connection = QUICK_CONNECTION) {
  const server: FakeHttpServer = await startFakeHttpServer();
  const proxy: HttpProxy = await startHttpProxy(server.port, fault);
  const cache = await openRemoteCache(parseRemoteAddress(`http://127.0.0.1:${proxy.port}`), connection);
  ends.push(server.close, proxy.close, () => cache.close());
  return { cache, server, proxy };
}

describe('over gRPC', () => {
  it.each([
    'honored',
    'ignored',
  ] as const)('a session survives one UNAVAILABLE at any of its messages, with offsets %s', async readOffset => {
    let at = -1;
    let before = 0;
    const { proxy, server } = await overGrpc(({ number }) => (number === before + at ? { kind: 'status', code: UNAVAILABLE } : undefined), {
      readOffset,
    });
    const play = async (round: number): Promise<void> => {
      const cache = await openRemoteCache(parseRemoteAddress(`grpc://127.0.0.1:${proxy.port}`), QUICK_CONNECTION);
      await playSession(cache, folder, String(round)).finally(() => cache.close());
    };
    await play(0);
    const messages = proxy.messages();
    expect(messages).toBeGreaterThan(25);
    for (at = 0; at < messages; at++) {
      server.blobs.clear();
      server.results.clear();
      before = proxy.messages();
      await play(at + 1);
      expect(proxy.messages()).toBeGreaterThan(before + at);
    }
  });

  it('a read that broke goes on where it stopped', async () => {
    let faults = 1;
    const offsets: string[] = [];
    const { cache } = await overGrpc(({ method, direction, bytes }) => {
      if (method === 'read' && direction === 'to-server') offsets.push(bytes.toString('hex').slice(-8));
      return method === 'read' && direction === 'to-client' && offsets.length === 1 && faults-- <= -8
        ? { kind: 'status', code: UNAVAILABLE }
        : undefined;
    });
    await cache.writeBlobs([LARGE]);
    const before = cache.traffic.downloadedBytes;
    expect(await cache.readFile(LARGE, join(folder, 'to'))).toBe('found');
    expect(offsets).toHaveLength(2);
    expect(cache.traffic.downloadedBytes - before).toBe(LARGE.sizeBytes);
  });

  const retryIn = (seconds: number): Buffer => {
    const value = RETRY_INFO.encode({ retryDelay: { seconds, nanos: 200_000_000 } });
    return Buffer.from(
      STATUS.encode({ code: RESOURCE_EXHAUSTED, message: '', details: [{ typeUrl: 'type.googleapis.com/google.rpc.RetryInfo', value }] }),
    );
  };

  it('the wait that the server asks for is kept', async () => {
    let faults = 1;
    const times: number[] = [];
    const { cache } = await overGrpc(({ method, direction }) => {
      if (method !== 'findMissing' || direction === 'to-client') return undefined;
      times.push(performance.now());
      return faults-- > 0 ? { kind: 'status', code: RESOURCE_EXHAUSTED, trailer: retryIn(0) } : undefined;
    });
    await cache.findMissing([SMALL]);
    expect(times).toHaveLength(2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(195);
  });

  it.each([
    ['asks to wait for a minute', { kind: 'status', code: RESOURCE_EXHAUSTED, trailer: retryIn(60) }, 'remote-unavailable', 1],
    ['is not there', { kind: 'status', code: UNAVAILABLE }, 'remote-unavailable', 3],
    ['does not accept the token', { kind: 'status', code: UNAUTHENTICATED }, 'remote-refused', 1],
    ['answers what is no message', { kind: 'replace', bytes: Buffer.from('0a05', 'hex') }, 'remote-unavailable', 3],
  ] as const)('a server that %s is given up with a code', async (_what, fault, code, calls) => {
    let count = 0;
    const { cache } = await overGrpc(({ method, direction }) => {
      if (method !== 'findMissing') return undefined;
      if (direction === 'to-server') count++;
      return direction === (fault.kind === 'replace' ? 'to-client' : 'to-server') ? fault : undefined;
    });
    await expect(cache.findMissing([SMALL])).rejects.toMatchObject({ code });
    expect(count).toBe(calls);
  });

  it('a server that does not answer is given up after the time of a call', async () => {
    const { patience } = QUICK_CONNECTION;
    const { cache } = await overGrpc(
      ({ method }) => (method === 'getResult' ? { kind: 'hang' } : undefined),
      {},
      { ...QUICK_CONNECTION, patience: { ...patience, callMs: 700 } },
    );
    await cache.findMissing([SMALL]);
    await expect(cache.getResult(ACTION)).rejects.toMatchObject({
      code: 'remote-unavailable',
      message: expect.stringContaining('in time'),
    });
  });

  it('a server without SHA-256 is refused', async () => {
    const { cache } = await overGrpc(() => undefined, { digestFunctions: [9] });
    await expect(cache.getResult(ACTION)).rejects.toMatchObject({ code: 'remote-refused', message: expect.stringContaining('SHA-256') });
  });

  it('bytes that changed on the way are refused', async () => {
    const flip = (bytes: Buffer): Buffer => {
      const copy = Buffer.from(bytes);
      copy[copy.length - 2] = (copy.at(-2) ?? 0) ^ 1;
      return copy;
    };
    const { cache } = await overGrpc(({ method, direction, bytes }) =>
      method === 'read' && direction === 'to-client' ? { kind: 'replace', bytes: flip(bytes) } : undefined,
    );
    await cache.writeBlobs([LARGE]);
    await expect(cache.readFile(LARGE, join(folder, 'to'))).rejects.toMatchObject({ code: 'remote-damaged' });
    expect(existsSync(join(folder, 'to'))).toBe(false);
  });
});

describe('over HTTP', () => {
  it.each([
    ['500', { kind: 'status', code: 500 }],
    ['429', { kind: 'status', code: 429, headers: { 'retry-after': '0' } }],
    ['a reset', { kind: 'reset' }],
    ['a body that is cut', { kind: 'cut' }],
  ] as const)('a session survives %s in any of its exchanges', async (_what, fault) => {
    let at = -1;
    const { cache, server, proxy } = await overHttp(({ number }) => (number === at ? fault : undefined));
    await playSession(cache, folder, String(0));
    const requests = proxy.requests();
    for (let step = 0; step < requests; step++) {
      server.bodies.clear();
      at = proxy.requests() + step;
      await playSession(cache, folder, String(step + 1));
    }
  });

  it.each([
    ['500', { kind: 'status', code: 500 }, 'remote-unavailable'],
    ['429 with a long wait', { kind: 'status', code: 429, headers: { 'retry-after': '3600' } }, 'remote-unavailable'],
    ['401', { kind: 'status', code: 401 }, 'remote-refused'],
    ['413', { kind: 'status', code: 413 }, 'remote-broken'],
    ['resets', { kind: 'reset' }, 'remote-unavailable'],
    ['other bytes', { kind: 'wrong-bytes' }, 'remote-damaged'],
  ] as const)('a server that answers with %s each time is given up with a code', async (_what, fault, code) => {
    const { cache } = await overHttp(({ method }) => (method === 'GET' ? fault : undefined));
    await cache.writeBlobs([SMALL]);
    await expect(cache.readBlobs([SMALL])).rejects.toMatchObject({ code });
    await expect(cache.readFile(SMALL, join(folder, 'to'))).rejects.toMatchObject({ code });
    expect(existsSync(join(folder, 'to'))).toBe(false);
  });

  it('a redirect is not followed, and its target gets nothing', async () => {
    const heard: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      heard.push(request.headers.authorization);
      response.end('iron');
    });
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
    ends.push(() => void other.close());
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/cas/?token=in-the-url`;
    const { cache } = await overHttp(() => ({ kind: 'status', code: 302, headers: { location } }), {
      ...QUICK_CONNECTION,
      headers: { authorization: 'Bearer t' },
    });
    await expect(cache.readBlobs([SMALL])).rejects.toMatchObject({
      code: 'remote-refused',
      message: expect.not.stringContaining('in-the-url'),
    });
    await expect(cache.writeBlobs([SMALL])).rejects.toMatchObject({ code: 'remote-refused' });
    expect(heard).toEqual([]);
  });

  it('a server that does not answer is given up after the time of a call, and a slow one is not', async () => {
    const connection = { ...QUICK_CONNECTION, patience: { ...QUICK_CONNECTION.patience, callMs: 700, minBytesPerSecond: 100_000 } };
    let fault: HttpFault = { kind: 'slow', pauseMs: 10 };
    const { cache } = await overHttp(({ method }) => (method === 'GET' ? fault : undefined), connection);
    await cache.writeBlobs([LARGE]);
    expect((await cache.readBlobs([LARGE])).size).toBe(1);
    fault = { kind: 'hang' };
    await expect(cache.readBlobs([SMALL])).rejects.toMatchObject({
      code: 'remote-unavailable',
      message: expect.stringContaining('in time'),
    });
  });
});
