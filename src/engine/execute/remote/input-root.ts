/** The input root of an execution as a Merkle tree: blobs by digest, and relative paths only. */
import { digestBytes } from '../../../base/digest.js';
import { encodeCanonicalJson } from '../../../base/json/canonical-json.js';
import type { Json } from '../../../base/json.js';
import type { BlobDigest, BlobSource } from '../../../remote/transport/remote-cache.js';
import type { TreeEntry } from '../../store/files/tree.js';
import { encodeDirectories } from '../../store/remote/tree-message.js';

/** Blobs by "hash/size", with their content, or without it where only the server has it. */
export type BlobSources = Map<string, BlobSource | BlobDigest>;

/** A file or folder of the root. */
export type RootEntry =
  | { readonly kind: 'bytes'; readonly path: string; readonly bytes: Uint8Array }
  /** `from`: absolute; undefined if only the server has the content. */
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly from: string | undefined;
      readonly blob: BlobDigest;
      readonly executable: boolean;
    }
  /** `entries` are those of the folder `from`. */
  | { readonly kind: 'folder'; readonly path: string; readonly from: string | undefined; readonly entries: readonly TreeEntry[] };

/** A document in the root. */
export function jsonEntry(path: string, value: Json): RootEntry {
  return { kind: 'bytes', path, bytes: Buffer.from(encodeCanonicalJson(value)) };
}

export interface InputRoot {
  readonly digest: BlobDigest;
  readonly blobs: BlobSources;
}

export function nameOfBlob({ hash, sizeBytes }: BlobDigest): string {
  return `${hash}/${sizeBytes}`;
}

/** Adds a blob in memory. @returns its digest. */
export function addBytes(blobs: BlobSources, bytes: Uint8Array): BlobDigest {
  const blob = { hash: digestBytes(bytes), sizeBytes: bytes.length };
  blobs.set(nameOfBlob(blob), { ...blob, bytes });
  return blob;
}

/** Makes the tree of these entries. Its digest depends on nothing else. */
export function makeInputRoot(entries: readonly RootEntry[]): InputRoot {
  const blobs: BlobSources = new Map();
  const all = entries.flatMap(entry => treeEntriesOf(entry, blobs));
  const { root, messages } = encodeDirectories(all);
  for (const message of messages) addBytes(blobs, message);
  return { digest: root, blobs };
}

function treeEntriesOf(entry: RootEntry, blobs: BlobSources): readonly TreeEntry[] {
  switch (entry.kind) {
    case 'bytes': {
      const { hash, sizeBytes } = addBytes(blobs, entry.bytes);
      return [{ kind: 'file', path: entry.path, digest: hash, sizeBytes, executable: false }];
    }
    case 'file': {
      const { path, from, blob, executable } = entry;
      blobs.set(nameOfBlob(blob), from === undefined ? blob : { ...blob, path: from });
      return [{ kind: 'file', path, digest: blob.hash, sizeBytes: blob.sizeBytes, executable }];
    }
    case 'folder':
      if (entry.entries.length === 0) return [{ kind: 'folder', path: entry.path }];
      return entry.entries.map(inner => {
        if (inner.kind === 'file') {
          const blob = { hash: inner.digest, sizeBytes: inner.sizeBytes };
          blobs.set(nameOfBlob(blob), entry.from === undefined ? blob : { ...blob, path: `${entry.from}/${inner.path}` });
        }
        return { ...inner, path: `${entry.path}/${inner.path}` };
      });
  }
}
