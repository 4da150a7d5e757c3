/** Division of many blobs into calls below the limits of a server and of gRPC. */
import type { BlobDigest } from '../transport/remote-cache.js';

/** The default limit of gRPC for one message is 4 MiB; the rest is for the fields beside the data. */
export const MOST_BATCH_BYTES = (4 << 20) - (64 << 10);

/** Digest, status and framing of one blob in a message. */
const BLOB_OVERHEAD_BYTES = 160;

/** Digests per FindMissingBlobs: some 750 kB. */
export const PAGE = 10_000;

export function pagesOf<T>(items: readonly T[], size = PAGE): readonly (readonly T[])[] {
  const pages: T[][] = [];
  for (let at = 0; at < items.length; at += size) pages.push(items.slice(at, at + size));
  return pages;
}

/** Blobs that fit no batch are 'large'. The order is kept. */
export function batchesOf<Blob extends BlobDigest>(
  blobs: readonly Blob[],
  limitBytes: number,
): { readonly batches: readonly (readonly Blob[])[]; readonly large: readonly Blob[] } {
  const batches: Blob[][] = [];
  const large: Blob[] = [];
  let room = 0;
  for (const blob of blobs) {
    const takes = blob.sizeBytes + BLOB_OVERHEAD_BYTES;
    if (takes > limitBytes) {
      large.push(blob);
      continue;
    }
    if (takes > room) {
      batches.push([]);
      room = limitBytes;
    }
    batches.at(-1)?.push(blob);
    room -= takes;
  }
  return { batches, large };
}
