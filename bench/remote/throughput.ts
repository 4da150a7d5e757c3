/** One large blob up and down, beside a bare client that digests too; and 1,000 small results. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestFile, digestJson } from '../../src/base/digest.js';
import { openActionRecords } from '../../src/engine/store/action-records.js';
import { openBlobStore } from '../../src/engine/store/blob-store.js';
import { cacheFolderAt, makeCacheFolder } from '../../src/engine/store/cache-folder.js';
import { openRemoteResults, type RemoteResults } from '../../src/engine/store/remote/remote-results.js';
import type { LocalStores, RemoteUse } from '../../src/engine/store/remote/remote-use.js';
import { parseRemoteAddress } from '../../src/remote/address/remote-address.js';
import { openRemoteCache } from '../../src/remote/open-remote-cache.js';
import { type RemoteCache, USUAL_PATIENCE } from '../../src/remote/transport/remote-cache.js';
import { type ServerInProcess, startServerInProcess } from '../../test/support/remote/server-in-process.js';
import { formatSamples, printTable } from '../table.js';
import { interleave, timeMs } from '../timing.js';
import { openBareClient } from './bare-client.js';

const SIZE_BYTES = 170_000_000;
const ROUNDS = 5;
const RESULTS = 1_000;

export function connect({ address }: ServerInProcess): Promise<RemoteCache> {
  const connection = {
    patience: USUAL_PATIENCE,
    headers: {},
    mask: (text: string) => text,
    tls: {},
    program: { name: 'bench', version: '0' },
  };
  return openRemoteCache(parseRemoteAddress(address), connection);
}

export function newStores(folder: string): LocalStores {
  const cache = cacheFolderAt(folder);
  makeCacheFolder(cache);
  return { cache, store: openBlobStore(cache), records: openActionRecords(cache) };
}

/** Reads and writes, in an ordinary way. */
export function useOf(cache: RemoteCache): RemoteUse {
  return { cache, address: '', read: true, write: true, local: 'used', need: 'optional', salt: '', mask: text => text };
}

export function openResults(local: LocalStores, cache: RemoteCache): RemoteResults {
  return openRemoteResults(local, useOf(cache), message => {
    throw new Error(message);
  });
}

export async function measureThroughput(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-bench-remote-'));
  const server = await startServerInProcess();
  const cache = await connect(server);
  const bare = openBareClient(server.port);
  try {
    const from = join(folder, 'from');
    for (let left = SIZE_BYTES; left > 0; left -= 10_000_000) appendFileSync(from, randomBytes(Math.min(left, 10_000_000)));
    const hash = await digestFile(from);
    const blob = { hash, sizeBytes: SIZE_BYTES };
    const to = join(folder, 'to');
    const times = await interleave(
      {
        'bare up': () => bare.upload(from, hash, SIZE_BYTES),
        up: () => cache.writeBlobs([{ ...blob, path: from }]),
        'bare down': () => bare.download(to, hash, SIZE_BYTES),
        down: async () => {
          rmSync(to, { force: true });
          await cache.readFile(blob, to);
        },
      },
      ROUNDS,
    );
    const row = (name: 'up' | 'down'): readonly string[] => {
      const share = times[`bare ${name}`].median / times[name].median;
      return [name, formatSamples(times[name]), formatSamples(times[`bare ${name}`]), `${(100 * share).toFixed(0)} %`];
    };
    printTable(`${SIZE_BYTES / 1e6} MB over gRPC, ms, median (quartiles) of ${ROUNDS}, in turn`, [
      ['', 'tanren', 'bare grpc-js client that digests', 'of its throughput (bound: 80 %)'],
      row('up'),
      row('down'),
    ]);
    await measureSmall(folder, server);
  } finally {
    bare.close();
    cache.close();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureSmall(folder: string, server: ServerInProcess): Promise<void> {
  const here = newStores(join(folder, 'here'));
  const keys: [string, { readonly plugin: string; readonly number: number }][] = [];
  for (let number = 0; number < RESULTS; number++) {
    const manifest = { plugin: 'p', number };
    const { digest, sizeBytes = 0 } = await here.store.storeBytes(`result ${number}`, 'no-flush');
    const outputs = { out: { kind: 'file', digest, sizeBytes, executable: false } as const };
    await here.records.add(digestJson(manifest), manifest, { outputs, metrics: undefined, log: undefined, durationMs: 1 });
    keys.push([digestJson(manifest), manifest]);
  }
  const sending = await connect(server);
  const up = openResults(here, sending);
  const upMs = await timeMs(async () => {
    for (const [key, manifest] of keys) {
      const record = await here.records.find(key);
      if (record !== undefined && record !== 'damaged') for (const result of record.results) up.offer(key, key, manifest, result);
    }
    await up.finish(new AbortController().signal);
  });
  const taking = await connect(server);
  const down = openResults(newStores(join(folder, 'there')), taking);
  const downMs = await timeMs(() => Promise.all(keys.map(([key]) => down.bring(key, key))));
  printTable(`${RESULTS} small results (bound: 5 s)`, [
    ['', 's', 'calls'],
    ['up', (upMs / 1000).toFixed(2), String(sending.traffic.calls)],
    ['down', (downMs / 1000).toFixed(2), String(taking.traffic.calls)],
  ]);
  sending.close();
  taking.close();
}
