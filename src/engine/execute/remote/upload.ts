/** Upload of the inputs of executions: each blob that the server lacks, once. */
import type { BlobDigest, BlobSource, RemoteCache } from '../../../remote/transport/remote-cache.js';
import { type BlobSources, nameOfBlob } from './input-root.js';

/** The server has lost an input of which there is no copy here: the stage that made it has to run again. */
export class InputLost extends Error {}

/** All methods throw RemoteError, and InputLost for a blob without content that the server lacks. */
export interface Uploader {
  /** Uploads what the server lacks of these blobs. */
  send(blobs: BlobSources): Promise<void>;
  /** Uploads blobs that a worker says it lacks, whatever is known of them: those named, or else all that the server says it lacks. */
  sendAgain(blobs: BlobSources, named: readonly string[]): Promise<void>;
}

type Blob = BlobSource | BlobDigest;

function withContent(blobs: readonly Blob[]): readonly BlobSource[] {
  return blobs.map(blob => {
    if ('path' in blob || 'bytes' in blob) return blob;
    throw new InputLost(`the server has lost an input, blob ${blob.hash.slice(0, 12)}…`);
  });
}

export function createUploader(cache: Pick<RemoteCache, 'findMissing' | 'writeBlobs'>): Uploader {
  /** Blobs that the server is known to have, or that are on their way, by name. */
  const there = new Map<string, Promise<void>>();

  const sendMissing = async (blobs: readonly Blob[]): Promise<void> => {
    const missing = await cache.findMissing(blobs.map(({ hash, sizeBytes }) => ({ hash, sizeBytes })));
    if (missing === 'unable') return cache.writeBlobs(withContent(blobs));
    const names = new Set(missing.map(nameOfBlob));
    await cache.writeBlobs(withContent(blobs.filter(blob => names.has(nameOfBlob(blob)))));
  };

  return {
    async send(blobs) {
      const own = [...blobs].filter(([name]) => !there.has(name));
      const sent = sendMissing(own.map(([, source]) => source));
      for (const [name] of own) there.set(name, sent);
      // Blobs of a failed upload are unknown again.
      sent.catch(() => {
        for (const [name] of own) if (there.get(name) === sent) there.delete(name);
      });
      await Promise.all(new Set([...blobs.keys()].map(name => there.get(name))));
    },
    async sendAgain(blobs, named) {
      const wanted = named.flatMap(name => blobs.get(name) ?? []);
      if (wanted.length > 0) return cache.writeBlobs(withContent(wanted));
      await sendMissing([...blobs.values()]);
    },
  };
}
