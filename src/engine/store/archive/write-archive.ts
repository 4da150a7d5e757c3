/** Writes an archive: sorted, without times and paths, so that equal results give equal bytes. */
import { createReadStream } from 'node:fs';
import type { Digest } from '../../../base/digest.js';
import { digestBytes } from '../../../base/digest.js';
import { isMissing } from '../../../base/system-error.js';
import { EngineError } from '../../model/engine-error.js';
import { type ActionRecords, encodeRecord } from '../action-records.js';
import type { BlobStore, ReadBlob } from '../blob-store.js';
import { statPath } from '../files/stamp.js';
import { blobsOf, notesOf } from '../maintenance/inventory.js';
import { archiveAt } from './archive-bytes.js';
import { ARCHIVE_HEADER, encodeEnd, encodeHead, readFrames } from './archive-format.js';

/** The content of other archives. */
export interface KnownContent {
  readonly blobs: ReadonlySet<Digest>;
  /** Digest of the text of each record, by key. */
  readonly records: ReadonlyMap<string, Digest>;
}

export interface WrittenArchive {
  readonly records: number;
  readonly blobs: number;
  readonly sizeBytes: number;
  /** Keys whose record, or one of whose blobs, is missing or damaged. They are not in the archive. */
  readonly incomplete: readonly string[];
}

export interface ArchiveSource {
  readonly store: BlobStore;
  readonly records: ActionRecords;
  readonly read: ReadBlob;
}

/**
 * Writes the records of `keys` and the blobs that they need. Everything is verified before it is written.
 * @throws EngineError `blob-changed` if a blob changes after its check; and errors of `write`.
 */
export async function writeArchive(
  { store, records, read }: ArchiveSource,
  keys: Iterable<string>,
  known: KnownContent,
  write: (chunk: string | Buffer) => Promise<void>,
): Promise<WrittenArchive> {
  const written = new Set<Digest>(known.blobs);
  const incomplete: string[] = [];
  const count = { records: 0, blobs: 0, sizeBytes: 0 };
  const put = async (chunk: string | Buffer): Promise<void> => {
    count.sizeBytes += Buffer.byteLength(chunk);
    await write(chunk);
  };
  await put(ARCHIVE_HEADER);
  for (const key of [...new Set(keys)].sort()) {
    const record = await records.find(key);
    const text = record === undefined || record === 'damaged' ? undefined : encodeRecord(record);
    if (record === undefined || record === 'damaged' || text === undefined) {
      incomplete.push(key);
      continue;
    }
    if (known.records.get(key) === digestBytes(text)) continue;
    const needed = new Set(record.results.flatMap(result => blobsOf(result, read)));
    const paths = await locateAll(
      [...needed].filter(digest => !written.has(digest)),
      store,
    );
    if (paths === undefined) {
      incomplete.push(key);
      continue;
    }
    const notes = await locateThose(
      notesOf(record.manifest).filter(digest => !written.has(digest) && !paths.has(digest)),
      store,
    );
    for (const [digest, path] of [...paths, ...notes].sort(([a], [b]) => (a < b ? -1 : 1))) {
      await putBlob(digest, path, put);
      written.add(digest);
      count.blobs++;
    }
    await put(`${encodeHead({ kind: 'record', name: digestOfKey(key), sizeBytes: Buffer.byteLength(text) })}${text}`);
    count.records++;
  }
  await put(encodeEnd(count.records + count.blobs));
  return { ...count, incomplete };
}

/** Keys are digests of manifests. */
function digestOfKey(key: string): Digest {
  return key as Digest;
}

async function locateAll(digests: readonly Digest[], store: BlobStore): Promise<ReadonlyMap<Digest, string> | undefined> {
  const paths = new Map<Digest, string>();
  for (const digest of [...digests].sort()) {
    const path = await store.locate(digest);
    if (path === undefined) return undefined;
    paths.set(digest, path);
  }
  return paths;
}

/** Locates blobs that only explain later changes. Missing ones are ignored. */
async function locateThose(digests: readonly Digest[], store: BlobStore): Promise<ReadonlyMap<Digest, string>> {
  const paths = new Map<Digest, string>();
  for (const digest of new Set(digests)) {
    const path = await store.locate(digest);
    if (path !== undefined) paths.set(digest, path);
  }
  return paths;
}

async function putBlob(digest: Digest, path: string, put: (chunk: string | Buffer) => Promise<void>): Promise<void> {
  const sizeBytes = statPath(path)?.sizeBytes ?? -1;
  if (sizeBytes < 0) throw blobChanged(path);
  await put(encodeHead({ kind: 'blob', name: digest, sizeBytes }));
  let left = sizeBytes;
  for await (const chunk of readPieces(path)) {
    left -= chunk.length;
    if (left < 0) break;
    await put(chunk);
  }
  if (left !== 0) throw blobChanged(path);
}

/** @throws EngineError `blob-changed` if the blob is gone: garbage may be collected during an export. */
async function* readPieces(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw isMissing(error) ? blobChanged(path) : error;
  }
}

function blobChanged(path: string): EngineError {
  return new EngineError('blob-changed', `${path} changed while it was exported`, {
    help: '`tanren cache verify` removes what is damaged; then export again',
  });
}

/** Reads the content of earlier archives. @throws like `readFrames`. */
export async function readKnownContent(archives: readonly string[]): Promise<KnownContent> {
  const blobs = new Set<Digest>();
  const records = new Map<string, Digest>();
  for (const path of archives) {
    for await (const { kind, name, body } of readFrames(archiveAt(path))) {
      if (kind === 'blob') {
        blobs.add(name);
        continue;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(chunk);
      records.set(name, digestBytes(Buffer.concat(chunks)));
    }
  }
  return { blobs, records };
}
