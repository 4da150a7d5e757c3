/** What the result of an execution states about its outputs, with bounds: a server may state anything. */
import { parseDigest } from '../../../base/digest.js';
import { damaged, RemoteError } from '../../../remote/error/remote-error.js';
import type { BlobDigest, RemoteCache } from '../../../remote/transport/remote-cache.js';
import type { WireDigest, WireResult } from '../../../remote/wire/reapi.js';
import type { TreeEntry } from '../../store/files/tree.js';
import { assertSize } from '../../store/remote/bring-blobs.js';
import { decodeTreeMessage } from '../../store/remote/tree-message.js';

/** More than the folders of a result need: their messages are in memory. */
const MOST_TREE_BYTES = 256 << 20;

/** `path` is a declared path, or one below a declared folder. */
export interface OutputFile {
  readonly path: string;
  readonly blob: BlobDigest;
  readonly executable: boolean;
}

export interface OutputTree {
  /** A declared path. */
  readonly path: string;
  readonly entries: readonly TreeEntry[];
}

export interface ListedOutputs {
  /** Outputs that are files. */
  readonly files: readonly OutputFile[];
  readonly trees: readonly OutputTree[];
}

/**
 * Reads the trees of a result, and no other content.
 * @throws RemoteError `remote-damaged` for a path that is not declared or occurs twice, an invalid or too large tree, and too many bytes;
 * `remote-missing` if the server lost a tree.
 */
export async function listOutputs(
  cache: Pick<RemoteCache, 'readBlobs'>,
  result: WireResult,
  declared: ReadonlySet<string>,
): Promise<ListedOutputs> {
  const open = new Set(declared);
  const files = result.outputFiles.map(({ path, digest, isExecutable }) => ({
    path: takeDeclared(path, open),
    blob: checkDigest(digest, path),
    executable: isExecutable,
  }));
  const named = result.outputDirectories.map(({ path, treeDigest }) => ({
    path: takeDeclared(path, open),
    blob: checkDigest(treeDigest, path),
  }));
  const treeBytes = named.reduce((sum, { blob }) => sum + blob.sizeBytes, 0);
  if (treeBytes > MOST_TREE_BYTES) throw damaged(`the result has ${treeBytes} bytes of trees, more than ${MOST_TREE_BYTES}`);
  const messages = await cache.readBlobs(named.map(({ blob }) => blob));
  const trees = named.map(({ path, blob }) => {
    const bytes = messages.get(blob.hash);
    if (bytes === undefined) throw lostOutput(path);
    return { path, entries: decodeTreeMessage(bytes) };
  });
  const inTrees = trees.flatMap(({ entries }) => entries.map(entry => (entry.kind === 'file' ? entry.sizeBytes : 0)));
  assertSize([...files.map(({ blob }) => blob.sizeBytes), ...inTrees]);
  return { files, trees };
}

/** @param open the declared paths that the result has not named yet; the path is removed from it. */
function takeDeclared(path: string, open: Set<string>): string {
  if (!open.delete(path)) throw damaged(`the result has the output ${JSON.stringify(path)} twice, or the action does not declare it`);
  return path;
}

/** @param path what the digest belongs to, for the message. @throws RemoteError `remote-damaged`. */
export function checkDigest(digest: WireDigest | undefined, path: string): BlobDigest {
  const hash = parseDigest(digest?.hash);
  if (digest === undefined || hash === undefined || digest.sizeBytes < 0)
    throw damaged(`the result has no digest for ${JSON.stringify(path)}`);
  return { hash, sizeBytes: digest.sizeBytes };
}

export function lostOutput(path: string): RemoteError {
  return new RemoteError('remote-missing', 'missing', `the server has the result, but has lost ${path}`);
}
