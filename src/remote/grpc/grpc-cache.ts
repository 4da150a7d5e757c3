/** A remote cache that speaks the Remote Execution API over gRPC. */
import PQueue from 'p-queue';
import type { Digest } from '../../base/digest.js';
import type { RemoteAddress } from '../address/remote-address.js';
import { broken, isTrouble, refused } from '../error/remote-error.js';
import type { BlobDigest, BlobSource, Connection, RemoteCache, ServerFacts } from '../transport/remote-cache.js';
import { repeat } from '../transport/repeat.js';
import { wholeOf } from '../transport/source-pieces.js';
import { verifyBytes } from '../transport/verified-bytes.js';
import { type Capabilities, SHA256, type WireDigest } from '../wire/reapi.js';
import { batchesOf, MOST_BATCH_BYTES, pagesOf } from './batches.js';
import { readToFile, readToMemory, type Streams, writeBlob } from './byte-stream.js';
import { errorOfStatus } from './call-status.js';
import { openChannel } from './channel.js';
import { executeAction } from './execute-action.js';
import { createMissingFinder } from './find-missing.js';
import { METHODS, type Method } from './methods.js';

/** Calls under way at once. Servers limit the streams of a connection, usually to 100. */
const MOST_CALLS = 64;

/** Batches in memory at once. */
const MOST_BATCHES = 8;

interface GrpcCache extends Streams {
  readonly calls: PQueue;
  readonly batches: PQueue;
  /** What the server says about itself, asked once. */
  limits: Promise<Limits> | undefined;
  batchRead: 'offered' | 'lacking';
  batchUpdate: 'offered' | 'lacking';
}

interface Limits {
  readonly batchBytes: number;
  readonly facts: ServerFacts;
}

export function openGrpcCache(address: RemoteAddress, connection: Connection): RemoteCache {
  const ending = new AbortController();
  const channel = openChannel(address, connection);
  const cache: GrpcCache = {
    channel,
    instance: address.path,
    patience: connection.patience,
    signal: ending.signal,
    traffic: { calls: 0, downloadedBytes: 0, uploadedBytes: 0 },
    calls: new PQueue({ concurrency: MOST_CALLS }),
    batches: new PQueue({ concurrency: MOST_BATCHES }),
    limits: undefined,
    batchRead: 'offered',
    batchUpdate: 'offered',
  };
  const { instance, traffic } = cache;
  return {
    async getResult(action) {
      await limitsOf(cache);
      try {
        return await ask(cache, METHODS.getResult, { instanceName: instance, actionDigest: action, inlineOutputFiles: ['record'] });
      } catch (error) {
        if (isTrouble(error, 'missing')) return undefined;
        throw error;
      }
    },
    async putResult(action, result) {
      await limitsOf(cache);
      await ask(cache, METHODS.updateResult, { instanceName: instance, actionDigest: action, actionResult: result });
    },
    findMissing: createMissingFinder(blobs => askMissing(cache, blobs), nameOfBlob),
    readBlobs: blobs => readBlobs(cache, blobs),
    readFile: (blob, path) => cache.calls.add(() => readToFile(cache, blob, path)),
    writeBlobs: blobs => writeBlobs(cache, blobs),
    async describe() {
      return (await limitsOf(cache)).facts;
    },
    traffic,
    execution: {
      async execute(action, how) {
        if ((await limitsOf(cache)).facts.executes === false)
          throw refused('the server does not execute actions', 'name a server with workers, or build with --executor local');
        return executeAction(cache, action, how);
      },
    },
    close() {
      ending.abort();
      channel.close();
    },
  };
}

async function askMissing(cache: GrpcCache, blobs: readonly BlobDigest[]): Promise<ReadonlySet<string>> {
  await limitsOf(cache);
  const pages = pagesOf(blobs).map(page => ask(cache, METHODS.findMissing, { instanceName: cache.instance, blobDigests: page }));
  return new Set((await Promise.all(pages)).flatMap(page => page.missingBlobDigests.map(nameOfBlob)));
}

function nameOfBlob({ hash, sizeBytes }: WireDigest): string {
  return `${hash}/${sizeBytes}`;
}

function ask<Question, Answer>(
  cache: GrpcCache,
  method: Method<Question, Answer>,
  question: Partial<Question>,
  sizeBytes = 0,
): Promise<Answer> {
  const { channel, patience, signal, traffic, calls } = cache;
  return calls.add(() =>
    repeat(patience, signal, () => {
      traffic.calls++;
      return channel.ask(method, question, sizeBytes);
    }),
  );
}

/** The limits of the server. They are asked again after a failure. @throws RemoteError also for a server of another protocol. */
function limitsOf(cache: GrpcCache): Promise<Limits> {
  cache.limits ??= askLimits(cache).catch((error: unknown) => {
    cache.limits = undefined;
    throw error;
  });
  return cache.limits;
}

async function askLimits(cache: GrpcCache): Promise<Limits> {
  try {
    return readLimits(await ask(cache, METHODS.getCapabilities, { instanceName: cache.instance }));
  } catch (error) {
    // A server without the method has the usual limits.
    if (!isTrouble(error, 'unsupported')) throw error;
    return { batchBytes: MOST_BATCH_BYTES, facts: { protocol: 'REAPI, without capabilities', writable: undefined, executes: undefined } };
  }
}

function readLimits({
  cacheCapabilities,
  executionCapabilities,
  lowApiVersion,
  highApiVersion,
  deprecatedApiVersion,
}: Capabilities): Limits {
  const low = (deprecatedApiVersion ?? lowApiVersion)?.major ?? 2;
  const high = highApiVersion?.major ?? 2;
  if (low > 2 || (high !== 0 && high < 2))
    throw refused(`the server speaks version ${low} to ${high} of the API, expected 2`, 'use a server of REAPI 2');
  const { digestFunctions = [], maxBatchTotalSizeBytes = 0, actionCacheUpdateCapabilities } = cacheCapabilities ?? {};
  if (digestFunctions.length > 0 && !digestFunctions.includes(SHA256))
    throw refused(
      `the server has the digest functions ${digestFunctions.join(', ')}, expected 1 (SHA-256) among them`,
      'set the server to SHA-256',
    );
  const versions = highApiVersion === undefined ? '2' : `${highApiVersion.major}.${highApiVersion.minor}`;
  return {
    batchBytes: maxBatchTotalSizeBytes > 0 ? Math.min(maxBatchTotalSizeBytes, MOST_BATCH_BYTES) : MOST_BATCH_BYTES,
    facts: {
      protocol: `REAPI ${versions}, SHA-256`,
      writable: actionCacheUpdateCapabilities?.updateEnabled ?? undefined,
      executes: executionCapabilities?.execEnabled ?? false,
    },
  };
}

async function readBlobs(cache: GrpcCache, blobs: readonly BlobDigest[]): Promise<ReadonlyMap<Digest, Uint8Array>> {
  const { batchBytes } = await limitsOf(cache);
  const found = new Map<Digest, Uint8Array>();
  const { batches, large } = batchesOf(uniqueOf(blobs), cache.batchRead === 'offered' ? batchBytes : 0);
  const singly = [...large];
  const single = (blob: BlobDigest) =>
    cache.calls.add(async () => {
      const bytes = await readToMemory(cache, blob);
      if (bytes !== undefined) found.set(blob.hash, bytes);
    });
  const many = async (batch: readonly BlobDigest[]): Promise<void> => {
    try {
      for (const blob of await readBatch(cache, batch, found)) singly.push(blob);
    } catch (error) {
      if (!isTrouble(error, 'unsupported')) throw error;
      cache.batchRead = 'lacking';
      singly.push(...batch);
    }
  };
  await Promise.all(batches.map(batch => cache.batches.add(() => many(batch))));
  await Promise.all(singly.map(single));
  return found;
}

/** @returns the blobs that the server could not send in this batch, and that are worth another try. */
async function readBatch(cache: GrpcCache, batch: readonly BlobDigest[], found: Map<Digest, Uint8Array>): Promise<readonly BlobDigest[]> {
  const sizeBytes = batch.reduce((sum, blob) => sum + blob.sizeBytes, 0);
  const question = { instanceName: cache.instance, digests: batch };
  const { responses } = await ask(cache, METHODS.batchRead, question, sizeBytes);
  const asked = new Map(batch.map(blob => [nameOfBlob(blob), blob]));
  const again: BlobDigest[] = [];
  for (const { digest, data, status, compressor } of responses) {
    const blob = digest === undefined ? undefined : asked.get(nameOfBlob(digest));
    if (blob === undefined) continue;
    asked.delete(nameOfBlob(blob));
    if (status !== undefined && status.code !== 0) {
      const error = errorOfStatus(status.code, cache.channel.mask(status.message), 'BatchReadBlobs');
      if (error.trouble === 'passing') again.push(blob);
      else if (error.trouble !== 'missing') throw error;
      continue;
    }
    if (compressor !== 0) throw broken('BatchReadBlobs: the server sent compressed data, which was not asked for');
    found.set(blob.hash, verifyBytes(data, blob));
    cache.traffic.downloadedBytes += data.length;
  }
  return [...again, ...asked.values()];
}

async function writeBlobs(cache: GrpcCache, blobs: readonly BlobSource[]): Promise<void> {
  const { batchBytes } = await limitsOf(cache);
  const { batches, large } = batchesOf(uniqueOf(blobs), cache.batchUpdate === 'offered' ? batchBytes : 0);
  const single = (blob: BlobSource) => cache.calls.add(() => writeBlob(cache, blob));
  const many = async (batch: readonly BlobSource[]): Promise<void> => {
    try {
      for (const blob of await writeBatch(cache, batch)) await single(blob);
    } catch (error) {
      if (!isTrouble(error, 'unsupported')) throw error;
      cache.batchUpdate = 'lacking';
      await Promise.all(batch.map(single));
    }
  };
  await Promise.all([...batches.map(batch => cache.batches.add(() => many(batch))), ...large.map(single)]);
}

/** @returns the blobs that the server did not take in this batch, and that are worth another try. */
async function writeBatch(cache: GrpcCache, batch: readonly BlobSource[]): Promise<readonly BlobSource[]> {
  const requests = await Promise.all(
    batch.map(async blob => ({ digest: { hash: blob.hash, sizeBytes: blob.sizeBytes }, data: await wholeOf(blob) })),
  );
  const sizeBytes = batch.reduce((sum, blob) => sum + blob.sizeBytes, 0);
  const { responses } = await ask(cache, METHODS.batchUpdate, { instanceName: cache.instance, requests }, sizeBytes);
  cache.traffic.uploadedBytes += sizeBytes;
  const sent = new Map(batch.map(blob => [nameOfBlob(blob), blob]));
  for (const { digest, status } of responses) {
    if (
      digest === undefined ||
      (status !== undefined && status.code !== 0 && throwUnlessPassing(status.code, cache.channel.mask(status.message)))
    )
      continue;
    sent.delete(nameOfBlob(digest));
  }
  return [...sent.values()];
}

function throwUnlessPassing(code: number, message: string): true {
  const error = errorOfStatus(code, message, 'BatchUpdateBlobs');
  if (error.trouble === 'passing') return true;
  throw error;
}

function uniqueOf<Blob extends BlobDigest>(blobs: readonly Blob[]): readonly Blob[] {
  return [...new Map(blobs.map(blob => [nameOfBlob(blob), blob])).values()];
}
