/** Looks up the artifacts of given digests in a store. */
import type { Artifact, Artifacts, Content, Contents } from '../model/artifact.js';
import type { BlobStore } from './blob-store.js';
import { decodeTree } from './files/tree.js';

/**
 * The artifacts of these contents; undefined if the store lacks any blob that they need. Blobs are not verified here, but when they are
 * copied.
 */
export async function findArtifacts(store: BlobStore, contents: Contents): Promise<Artifacts | undefined> {
  const found: Record<string, Artifact> = {};
  for (const [port, content] of Object.entries(contents)) {
    const sizeBytes = await (content.kind === 'file' ? store.sizeOf(content.digest) : sizeOfTree(store, content));
    if (sizeBytes === undefined) return undefined;
    found[port] = { ...content, sizeBytes };
  }
  return found;
}

/** Whether everything that a record names has the size that the record states. A missing blob has no size. */
export async function haveStatedSizes(store: BlobStore, artifacts: Artifacts): Promise<boolean> {
  const found = await findArtifacts(store, artifacts);
  if (found === undefined) return false;
  for (const [port, { digest, sizeBytes, treeSizeBytes }] of Object.entries(artifacts)) {
    if (found[port]?.sizeBytes !== sizeBytes) return false;
    if (treeSizeBytes !== undefined && (await store.sizeOf(digest)) !== treeSizeBytes) return false;
  }
  return true;
}

async function sizeOfTree(store: BlobStore, { digest }: Content): Promise<number | undefined> {
  const bytes = await store.read(digest);
  const tree = bytes === undefined ? undefined : decodeTree(bytes.toString());
  let sizeBytes = 0;
  for (const entry of tree ?? []) {
    if (entry.kind === 'file' && (await store.sizeOf(entry.digest)) === undefined) return undefined;
    if (entry.kind === 'file') sizeBytes += entry.sizeBytes;
  }
  return tree === undefined ? undefined : sizeBytes;
}
