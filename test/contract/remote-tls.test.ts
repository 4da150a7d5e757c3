/** Remote caches over TLS: an own certificate authority, clients with a certificate, and servers that are not trusted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes } from '../../src/base/digest.js';
import { parseRemoteAddress } from '../../src/remote/address/remote-address.js';
import { openRemoteCache } from '../../src/remote/open-remote-cache.js';
import type { RemoteCache, TlsFiles } from '../../src/remote/transport/remote-cache.js';
import { failureOf } from '../support/error-code.js';
import { startFakeServer } from '../support/remote/fake-grpc-server.js';
import { startFakeHttpServer } from '../support/remote/fake-http-server.js';
import { QUICK_CONNECTION } from '../support/remote/quick-connection.js';
import { playSession } from '../support/remote/remote-contract.js';
import { readTlsFile, startTlsProxy } from '../support/remote/tls-proxy.js';

const AUTHORITY: TlsFiles = { ca: readTlsFile('ca.pem') };
const CLIENT: TlsFiles = { ...AUTHORITY, certificate: readTlsFile('client.pem'), key: readTlsFile('client.key') };

describe.each(['grpcs', 'https'] as const)('%s', scheme => {
  let folder = '';
  const closers: (() => Promise<void> | void)[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tanren-tls-'));
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    rmSync(folder, { recursive: true });
  });

  async function open(clients: 'any' | 'known', tls: TlsFiles): Promise<RemoteCache> {
    const server = scheme === 'grpcs' ? await startFakeServer() : await startFakeHttpServer();
    const proxy = await startTlsProxy(server.port, clients);
    const address = parseRemoteAddress(`${scheme}://localhost:${proxy.port}/main`);
    const patience = { ...QUICK_CONNECTION.patience, callMs: 5_000 };
    const cache = await openRemoteCache(address, { ...QUICK_CONNECTION, patience, tls });
    closers.push(
      () => server.close(),
      () => proxy.close(),
      () => cache.close(),
    );
    return cache;
  }

  it('serves a client that trusts its authority', async () => {
    await playSession(await open('any', AUTHORITY), folder, 'any');
  });

  it('serves a client with a certificate where it asks for one', async () => {
    await playSession(await open('known', CLIENT), folder, 'known');
  });

  const ask = (cache: RemoteCache) => cache.getResult({ hash: digestBytes('action'), sizeBytes: 6 });

  it('is not used without its authority', async () => {
    const cache = await open('any', {});
    expect((await failureOf(() => ask(cache))).code).toMatch(/^remote-/);
  });

  it('refuses a client without a certificate', async () => {
    const cache = await open('known', AUTHORITY);
    expect((await failureOf(() => ask(cache))).code).toMatch(/^remote-/);
  });
});
