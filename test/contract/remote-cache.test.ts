/** The contract of remote caches: what was sent comes back over any transport, and nothing that does not match its digest. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes } from '../../src/base/digest.js';
import { parseRemoteAddress } from '../../src/remote/address/remote-address.js';
import { openRemoteCache } from '../../src/remote/open-remote-cache.js';
import type { BlobDigest, BlobSource, RemoteCache } from '../../src/remote/transport/remote-cache.js';
import { ACTION_RESULT } from '../../src/remote/wire/reapi.js';
import { type FakeServerOptions, startFakeServer } from '../support/remote/fake-grpc-server.js';
import { type FakeHttpOptions, startFakeHttpServer } from '../support/remote/fake-http-server.js';
import { QUICK_CONNECTION } from '../support/remote/quick-connection.js';

interface Opened {
  readonly cache: RemoteCache;
  close(): Promise<void>;
  /** Replaces the bytes of a blob at the server. */
  spoil(blob: BlobDigest, bytes: Buffer): void;
}

async function openAt(scheme: 'grpc' | 'http', server: { readonly port: number; close(): Promise<void> }): Promise<Omit<Opened, 'spoil'>> {
  const cache = await openRemoteCache(parseRemoteAddress(`${scheme}://127.0.0.1:${server.port}/main`), QUICK_CONNECTION);
  return {
    cache,
    close: async () => {
      cache.close();
      await server.close();
    },
  };
}

async function overGrpc(options: FakeServerOptions): Promise<Opened> {
  const server = await startFakeServer(options);
  const spoil: Opened['spoil'] = ({ hash, sizeBytes }, bytes) => server.blobs.set(`${hash}/${sizeBytes}`, bytes);
  return { ...(await openAt('grpc', server)), spoil };
}

async function overHttp(options: FakeHttpOptions): Promise<Opened> {
  const server = await startFakeHttpServer(options);
  return { ...(await openAt('http', server)), spoil: ({ hash }, bytes) => server.bodies.set(`/main/cas/${hash}`, bytes) };
}

let folder: string;
let opened: Opened;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-remote-'));
});
afterEach(async () => {
  await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

function blobOf(bytes: Uint8Array): BlobSource & { readonly bytes: Uint8Array } {
  return { hash: digestBytes(bytes), sizeBytes: bytes.length, bytes };
}

const ACTION: BlobDigest = { hash: digestBytes('action'), sizeBytes: 6 };
const SMALL = blobOf(Buffer.from('iron'));
const EMPTY = blobOf(Buffer.alloc(0));
/** Larger than a message of gRPC. */
const LARGE = blobOf(Buffer.alloc(9_000_001, 'steel'));

describe.each([
  ['gRPC', () => overGrpc({})],
  ['gRPC with batches of 1 MB', () => overGrpc({ batchBytes: 1_000_000 })],
  ['gRPC without batches or capabilities', () => overGrpc({ lacks: ['batchRead', 'batchUpdate', 'getCapabilities', 'queryWrite'] })],
  ['HTTP', () => overHttp({})],
  ['HTTP without HEAD', () => overHttp({ head: 'refused' })],
])('a cache over %s', (_name, open) => {
  beforeEach(async () => {
    opened = await open();
  });

  it('has no result until one is put, and then that one', async () => {
    const { cache } = opened;
    expect(await cache.getResult(ACTION)).toBeUndefined();
    const result = ACTION_RESULT.decode(
      ACTION_RESULT.encode({
        outputFiles: [{ path: 'a', digest: SMALL, isExecutable: true, contents: new Uint8Array(0) }],
        executionMetadata: { worker: 'w' },
      }),
    );
    await cache.putResult(ACTION, result);
    expect(await cache.getResult(ACTION)).toEqual(result);
  });

  it('takes blobs of any size, and gives them back', async () => {
    const { cache } = opened;
    const file = join(folder, 'from');
    writeFileSync(file, LARGE.bytes);
    await cache.writeBlobs([SMALL, EMPTY, { hash: LARGE.hash, sizeBytes: LARGE.sizeBytes, path: file }]);
    const found = await cache.readBlobs([SMALL, EMPTY, LARGE]);
    for (const { hash, bytes } of [SMALL, EMPTY, LARGE]) expect(Buffer.from(found.get(hash) ?? 'absent').equals(bytes)).toBe(true);
    for (const blob of [SMALL, EMPTY, LARGE]) {
      const path = join(folder, blob.hash);
      expect(await cache.readFile(blob, path)).toBe('found');
      expect(readFileSync(path).equals(blob.bytes)).toBe(true);
    }
  });

  it('lacks what was not put', async () => {
    const { cache } = opened;
    await cache.writeBlobs([SMALL]);
    const missing = await cache.findMissing([SMALL, LARGE]);
    if (missing !== 'unable') expect(missing.map(({ hash }) => hash)).toEqual([LARGE.hash]);
    expect(await cache.readBlobs([LARGE])).toEqual(new Map());
    expect(await cache.readFile(LARGE, join(folder, 'to'))).toBe('missing');
    expect(existsSync(join(folder, 'to'))).toBe(false);
  });

  it.each([
    ['as many bytes', Buffer.from('rust')],
    ['fewer bytes', Buffer.from('ru')],
    ['more bytes', Buffer.from('rusting')],
  ])('whose blob has %s but others gives none of them', async (_what, bytes) => {
    const { cache, spoil } = opened;
    spoil(SMALL, bytes);
    await expect(cache.readBlobs([SMALL])).rejects.toMatchObject({ code: 'remote-damaged' });
    await expect(cache.readFile(SMALL, join(folder, 'to'))).rejects.toMatchObject({ code: 'remote-damaged' });
    expect(existsSync(join(folder, 'to'))).toBe(false);
  });

  it('is sent nothing under a digest that the file no longer has', async () => {
    const { cache } = opened;
    const file = join(folder, 'from');
    writeFileSync(file, 'rust');
    await expect(cache.writeBlobs([{ hash: SMALL.hash, sizeBytes: 4, path: file }])).rejects.toMatchObject({ code: 'remote-damaged' });
    expect(await cache.readBlobs([SMALL])).toEqual(new Map());
  });

  it('takes 400 blobs in one call', async () => {
    const { cache } = opened;
    const blobs = Array.from({ length: 400 }, (_, index) => blobOf(Buffer.from(`blob ${index}`)));
    await cache.writeBlobs(blobs);
    const found = await cache.readBlobs(blobs);
    expect(blobs.filter(({ hash, bytes }) => !Buffer.from(found.get(hash) ?? '').equals(bytes))).toEqual([]);
  });
});

describe('a connection without TLS', () => {
  const names = ['http_proxy', 'https_proxy', 'grpc_proxy'];
  afterEach(() => {
    for (const name of names) delete process.env[name];
  });

  it.each([
    ['gRPC', overGrpc],
    ['HTTP', overHttp],
  ] as const)('goes to this machine alone over %s, whatever proxy the environment names', async (_name, open) => {
    let arrived = 0;
    const proxy = createServer(socket => {
      arrived++;
      socket.on('error', () => undefined).destroy();
    });
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
    for (const name of names) process.env[name] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      opened = await open({});
      await opened.cache.writeBlobs([SMALL]);
      expect((await opened.cache.readBlobs([SMALL])).size).toBe(1);
      expect(arrived).toBe(0);
    } finally {
      await new Promise(resolve => proxy.close(resolve));
    }
  });
});
