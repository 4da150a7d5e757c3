/** Outputs of an execution, verified and written to the folder of the run. */
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseDigest } from '../../../base/digest.js';
import { damaged, RemoteError } from '../../../remote/error/remote-error.js';
import type { BlobDigest, RemoteCache } from '../../../remote/transport/remote-cache.js';
import type { WireDigest, WireResult } from '../../../remote/wire/reapi.js';
import { decodeTreeMessage } from '../../store/remote/tree-message.js';

/** Larger files are written as they arrive. */
const LARGE_BYTES = 1 << 20;

/** Small files that are in memory together. */
const GROUP_BYTES = 32 << 20;

/** More than the folders of a result need: their messages are in memory. */
const MOST_TREE_BYTES = 256 << 20;

interface OutputBlob {
  /** Absolute. */
  readonly path: string;
  readonly blob: BlobDigest;
  readonly executable: boolean;
}

/**
 * @param folder where the outputs are written, at the declared paths.
 * @throws RemoteError `remote-damaged` for content that does not match, a path that is not declared or occurs twice, and too large trees; `remote-missing` if the server lost it.
 */
export async function downloadOutputs(
  cache: Pick<RemoteCache, 'readBlobs' | 'readFile'>,
  result: WireResult,
  declared: ReadonlySet<string>,
  folder: string,
): Promise<void> {
  const files: OutputBlob[] = [];
  const open = new Set(declared);
  for (const { path, digest, isExecutable } of result.outputFiles)
    files.push({ path: join(folder, takeDeclared(path, open)), blob: checkDigest(digest, path), executable: isExecutable });
  const trees = result.outputDirectories.map(({ path, treeDigest }) => ({
    path: takeDeclared(path, open),
    blob: checkDigest(treeDigest, path),
  }));
  const treeBytes = trees.reduce((sum, { blob }) => sum + blob.sizeBytes, 0);
  if (treeBytes > MOST_TREE_BYTES) throw damaged(`the result has ${treeBytes} bytes of trees, more than ${MOST_TREE_BYTES}`);
  const messages = await cache.readBlobs(trees.map(({ blob }) => blob));
  for (const { path, blob } of trees) {
    const bytes = messages.get(blob.hash);
    if (bytes === undefined) throw lost(path);
    await mkdir(join(folder, path), { recursive: true });
    for (const entry of decodeTreeMessage(bytes)) {
      const at = join(folder, path, entry.path);
      await mkdir(entry.kind === 'folder' ? at : dirname(at), { recursive: true });
      if (entry.kind === 'symlink') await symlink(entry.target, at);
      if (entry.kind === 'file')
        files.push({ path: at, blob: { hash: entry.digest, sizeBytes: entry.sizeBytes }, executable: entry.executable });
    }
  }
  await writeFiles(cache, files);
}

async function writeFiles(cache: Pick<RemoteCache, 'readBlobs' | 'readFile'>, files: readonly OutputBlob[]): Promise<void> {
  for (const { path } of files) await mkdir(dirname(path), { recursive: true });
  const large = files.filter(({ blob }) => blob.sizeBytes > LARGE_BYTES);
  // None may still write when the caller removes what was written.
  const ends = await Promise.allSettled(
    large.map(async ({ path, blob, executable }) => {
      if ((await cache.readFile(blob, path)) === 'missing') throw lost(path);
      await chmod(path, executable ? 0o700 : 0o600);
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  for (const group of groupsOf(files.filter(({ blob }) => blob.sizeBytes <= LARGE_BYTES))) {
    const found = await cache.readBlobs(group.map(({ blob }) => blob));
    for (const { path, blob, executable } of group) {
      const bytes = found.get(blob.hash);
      if (bytes === undefined) throw lost(path);
      await writeFile(path, bytes, { flag: 'wx', mode: executable ? 0o700 : 0o600 });
    }
  }
}

function groupsOf(files: readonly OutputBlob[]): readonly (readonly OutputBlob[])[] {
  const groups: OutputBlob[][] = [];
  let room = 0;
  for (const file of files) {
    if (file.blob.sizeBytes > room || groups.length === 0) {
      groups.push([]);
      room = GROUP_BYTES;
    }
    groups.at(-1)?.push(file);
    room -= file.blob.sizeBytes;
  }
  return groups;
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

function lost(path: string): RemoteError {
  return new RemoteError('remote-missing', 'missing', `the server has the result, but has lost ${path}`);
}
