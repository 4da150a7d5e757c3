/** A remote cache over plain HTTP: results under /ac/, blobs under /cas/, as bazel-remote and a web server with PUT serve them. */
import PQueue from 'p-queue';
import type { Digest } from '../../base/digest.js';
import type { RemoteAddress } from '../address/remote-address.js';
import { broken, isTrouble } from '../error/remote-error.js';
import type { BlobDigest, BlobSource, Connection, Patience, RemoteCache, Traffic } from '../transport/remote-cache.js';
import { repeat } from '../transport/repeat.js';
import { piecesOf } from '../transport/source-pieces.js';
import { openBlobFile, verifyBytes, wrongSize } from '../transport/verified-bytes.js';
import { ACTION_RESULT, type WireResult } from '../wire/reapi.js';
import { type Exchange, openExchange, type Request } from './exchange.js';

const MOST_REQUESTS = 32;
const PIECE_BYTES = 1 << 20;

/** Results are small messages. */
const MOST_RESULT_BYTES = 16 << 20;

interface HttpCache {
  readonly exchange: Exchange;
  readonly patience: Patience;
  readonly signal: AbortSignal;
  readonly traffic: Traffic;
  readonly requests: PQueue;
  /** Some servers refuse HEAD. */
  head: 'offered' | 'lacking';
}

export function openHttpCache(address: RemoteAddress, connection: Connection): RemoteCache {
  const ending = new AbortController();
  const cache: HttpCache = {
    exchange: openExchange(address, connection),
    patience: connection.patience,
    signal: ending.signal,
    traffic: { calls: 0, downloadedBytes: 0, uploadedBytes: 0 },
    requests: new PQueue({ concurrency: MOST_REQUESTS }),
    head: 'offered',
  };
  return {
    getResult: action => getResult(cache, action),
    async putResult(action, result) {
      const bytes = ACTION_RESULT.encode(result);
      await put(cache, `ac/${action.hash}`, bytes.length, () => [bytes]);
    },
    findMissing: blobs => findMissing(cache, blobs),
    async readBlobs(blobs) {
      const found = new Map<Digest, Uint8Array>();
      const read = async (blob: BlobDigest): Promise<void> => {
        const bytes = await getBytes(cache, `cas/${blob.hash}`, blob, blob.sizeBytes);
        if (bytes !== undefined) found.set(blob.hash, verifyBytes(bytes, blob));
      };
      await Promise.all(blobs.map(read));
      return found;
    },
    readFile: (blob, path) => readFile(cache, blob, path),
    async writeBlobs(blobs) {
      const write = (source: BlobSource) => put(cache, `cas/${source.hash}`, source.sizeBytes, () => dataOf(source));
      await Promise.all(blobs.map(write));
    },
    async describe() {
      // Any answer but a failure shows that there is a server.
      await send(cache, () => ({ method: 'GET', path: `ac/${'0'.repeat(64)}`, sizeBytes: 0 }));
      return { protocol: 'HTTP cache, SHA-256', writable: undefined, executes: false };
    },
    traffic: cache.traffic,
    execution: undefined,
    close() {
      ending.abort();
      cache.exchange.close();
    },
  };
}

function send({ requests, patience, signal, traffic, exchange }: HttpCache, make: () => Request): Promise<number> {
  return requests.add(() =>
    repeat(patience, signal, () => {
      traffic.calls++;
      return exchange.send(make());
    }),
  );
}

async function getResult(cache: HttpCache, action: BlobDigest): Promise<WireResult | undefined> {
  const bytes = await getBytes(cache, `ac/${action.hash}`, { hash: action.hash, sizeBytes: MOST_RESULT_BYTES }, 0);
  return bytes === undefined ? undefined : ACTION_RESULT.decode(bytes);
}

/** The unverified bytes at a path, at most as many as `most` has; undefined if there are none. */
async function getBytes(cache: HttpCache, path: string, most: BlobDigest, expectedBytes: number): Promise<Uint8Array | undefined> {
  let pieces: Uint8Array[] = [];
  let received = 0;
  const status = await send(cache, () => {
    [pieces, received] = [[], 0];
    return {
      method: 'GET',
      path,
      sizeBytes: expectedBytes,
      onData(data) {
        received += data.length;
        cache.traffic.downloadedBytes += data.length;
        if (received > most.sizeBytes) throw wrongSize(most, received);
        pieces.push(data);
      },
    };
  });
  return status < 300 ? Buffer.concat(pieces) : undefined;
}

async function findMissing(cache: HttpCache, blobs: readonly BlobDigest[]): Promise<readonly BlobDigest[] | 'unable'> {
  const missing: BlobDigest[] = [];
  const look = async (blob: BlobDigest): Promise<void> => {
    if (cache.head === 'lacking') return;
    const status = await send(cache, () => ({ method: 'HEAD', path: `cas/${blob.hash}`, sizeBytes: 0 }));
    if (status === 405) cache.head = 'lacking';
    else if (status === 404) missing.push(blob);
  };
  const [first, ...others] = blobs;
  // The first answer shows whether the others can be asked at all.
  if (first !== undefined) await look(first).catch(ignoreUnsupported(cache));
  await Promise.all(others.map(look));
  return isUnable(cache) ? 'unable' : missing;
}

function isUnable({ head }: HttpCache): boolean {
  return head === 'lacking';
}

/** A server that answers HEAD with 501 or 400 lacks it as well. */
function ignoreUnsupported(cache: HttpCache): (error: unknown) => void {
  return error => {
    if (!isTrouble(error, 'broken') || !(error instanceof Error) || !/status (400|501)$/.test(error.message)) throw error;
    cache.head = 'lacking';
  };
}

async function readFile(cache: HttpCache, blob: BlobDigest, path: string): Promise<'found' | 'missing'> {
  const { requests, patience, signal, traffic, exchange } = cache;
  const file = await openBlobFile(path, blob);
  const receive = async (attempt: number): Promise<number> => {
    if (attempt > 1) await file.restart();
    traffic.calls++;
    const status = await exchange.send({
      method: 'GET',
      path: `cas/${blob.hash}`,
      sizeBytes: blob.sizeBytes,
      async onData(data) {
        traffic.downloadedBytes += data.length;
        await file.add(data);
      },
    });
    if (status < 300) await file.finish();
    return status;
  };
  try {
    const status = await requests.add(() => repeat(patience, signal, receive));
    return status < 300 ? 'found' : 'missing';
  } finally {
    await file.close();
  }
}

async function put(
  cache: HttpCache,
  path: string,
  sizeBytes: number,
  pieces: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const status = await send(cache, () => ({ method: 'PUT', path, sizeBytes, body: { sizeBytes, pieces: pieces() } }));
  if (status >= 300) throw broken(`PUT ${path.slice(0, 16)}…: status ${status}; the server takes no uploads here`);
  cache.traffic.uploadedBytes += sizeBytes;
}

async function* dataOf(source: BlobSource): AsyncGenerator<Uint8Array> {
  for await (const { data } of piecesOf(source, PIECE_BYTES)) yield data;
}
