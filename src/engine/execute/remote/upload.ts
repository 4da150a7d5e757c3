/** Upload of the inputs of executions: each blob that the server lacks, once. */
import type { BlobSource, RemoteCache } from '../../../remote/transport/remote-cache.js';
import { type BlobSources, nameOfBlob } from './input-root.js';

export interface Uploader {
  /** Uploads what the server lacks of these blobs. @throws RemoteError. */
  send(blobs: BlobSources): Promise<void>;
  /** Uploads blobs that a worker says it lacks, whatever is known of them: those named, or else all that the server says it lacks. */
  sendAgain(blobs: BlobSources, named: readonly string[]): Promise<void>;
}

export function createUploader(cache: Pick<RemoteCache, 'findMissing' | 'writeBlobs'>): Uploader {
  /** Blobs that the server is known to have, or that are on their way, by name. */
  const there = new Map<string, Promise<void>>();

  const sendMissing = async (sources: readonly BlobSource[]): Promise<void> => {
    const missing = await cache.findMissing(sources.map(({ hash, sizeBytes }) => ({ hash, sizeBytes })));
    if (missing === 'unable') return cache.writeBlobs(sources);
    const names = new Set(missing.map(nameOfBlob));
    await cache.writeBlobs(sources.filter(source => names.has(nameOfBlob(source))));
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
      const sources = named.flatMap(name => blobs.get(name) ?? []);
      if (sources.length > 0) return cache.writeBlobs(sources);
      await sendMissing([...blobs.values()]);
    },
  };
}
