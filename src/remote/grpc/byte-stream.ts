/** Blobs of any size over ByteStream: read and written in pieces, and continued where a broken transfer stopped. */
import { randomUUID } from 'node:crypto';
import { isTrouble, RemoteError } from '../error/remote-error.js';
import type { BlobDigest, BlobSource, Patience, Traffic } from '../transport/remote-cache.js';
import { repeat } from '../transport/repeat.js';
import { piecesOf } from '../transport/source-pieces.js';
import { type BlobFile, openBlobFile, verifyBytes, wrongSize } from '../transport/verified-bytes.js';
import type { Channel, WritePiece } from './channel.js';
import { METHODS } from './methods.js';

export interface Streams {
  readonly channel: Channel;
  readonly instance: string;
  readonly patience: Patience;
  readonly signal: AbortSignal;
  readonly traffic: Traffic;
}

/** Below the limit of 4 MiB for one message, and large enough that few messages carry a model. */
const PIECE_BYTES = 1 << 20;

function resourceOf(instance: string, path: string): string {
  return instance === '' ? path : `${instance}/${path}`;
}

/** Nothing is left at `path` unless the result is 'found'. @throws RemoteError, also if the bytes do not match the digest. */
export async function readToFile(streams: Streams, blob: BlobDigest, path: string): Promise<'found' | 'missing'> {
  const { patience, signal } = streams;
  const file = await openBlobFile(path, blob);
  let resumed = false;
  try {
    await repeat(patience, signal, async attempt => {
      resumed = attempt > 1 && file.receivedBytes > 0;
      try {
        await receive(streams, blob, file);
      } catch (error) {
        // Some servers ignore the offset, and some refuse it: then everything is read again.
        if (!resumed || isTrouble(error, 'passing') || isTrouble(error, 'missing')) throw error;
        await file.restart();
        await receive(streams, blob, file);
      }
    });
    return 'found';
  } catch (error) {
    if (isTrouble(error, 'missing')) return 'missing';
    throw error;
  } finally {
    await file.close();
  }
}

async function receive({ channel, instance, traffic }: Streams, blob: BlobDigest, file: BlobFile): Promise<void> {
  const from = file.receivedBytes;
  traffic.calls++;
  await channel.read(resourceOf(instance, `blobs/${blob.hash}/${blob.sizeBytes}`), from, blob.sizeBytes - from, async data => {
    traffic.downloadedBytes += data.length;
    await file.add(data);
  });
  await file.finish();
}

/** The verified bytes of a blob; undefined if the server lacks it. */
export async function readToMemory(streams: Streams, blob: BlobDigest): Promise<Uint8Array | undefined> {
  const { channel, instance, patience, signal, traffic } = streams;
  try {
    return await repeat(patience, signal, async () => {
      const pieces: Uint8Array[] = [];
      let received = 0;
      traffic.calls++;
      await channel.read(resourceOf(instance, `blobs/${blob.hash}/${blob.sizeBytes}`), 0, blob.sizeBytes, async data => {
        received += data.length;
        traffic.downloadedBytes += data.length;
        if (received > blob.sizeBytes) throw wrongSize(blob, received);
        pieces.push(data);
      });
      return verifyBytes(Buffer.concat(pieces), blob);
    });
  } catch (error) {
    if (isTrouble(error, 'missing')) return undefined;
    throw error;
  }
}

/** @throws RemoteError, also if the source does not have the bytes that its digest states. */
export async function writeBlob(streams: Streams, source: BlobSource): Promise<void> {
  const { channel, instance, patience, signal, traffic } = streams;
  const newName = (): string => resourceOf(instance, `uploads/${randomUUID()}/blobs/${source.hash}/${source.sizeBytes}`);
  let name = newName();
  await repeat(patience, signal, async attempt => {
    const from = attempt === 1 ? 0 : await findCommitted(streams, name);
    if (from === source.sizeBytes && from > 0) return;
    if (from === 0 && attempt > 1) name = newName();
    traffic.calls++;
    const { committedSize } = await channel.write(messages(name, source, from, traffic), source.sizeBytes - from);
    // A server that had the blob already states its whole size, or -1.
    if (committedSize !== source.sizeBytes && committedSize !== -1)
      throw new RemoteError('remote-broken', 'passing', `Write: the server took ${committedSize} of ${source.sizeBytes} bytes`);
  });
}

async function* messages(resourceName: string, source: BlobSource, from: number, traffic: Traffic): AsyncGenerator<WritePiece> {
  let first = true;
  for await (const { offset, data, last } of piecesOf(source, PIECE_BYTES, from)) {
    traffic.uploadedBytes += data.length;
    yield { resourceName: first ? resourceName : '', writeOffset: offset, finishWrite: last, data };
    first = false;
  }
}

/** How much of an interrupted upload the server has. A server that cannot tell gets everything again. */
async function findCommitted({ channel, traffic }: Streams, resourceName: string): Promise<number> {
  traffic.calls++;
  try {
    return (await channel.ask(METHODS.queryWrite, { resourceName }, 0)).committedSize;
  } catch (error) {
    if (error instanceof RemoteError) return 0;
    throw error;
  }
}
