/** Outputs of an execution, verified and written to the folder of the run. */
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RemoteCache } from '../../../remote/transport/remote-cache.js';
import type { WireResult } from '../../../remote/wire/reapi.js';
import { groupsOf, LARGE_BYTES } from '../../store/remote/bring-blobs.js';
import { type ListedOutputs, listOutputs, lostOutput, type OutputFile } from './list-outputs.js';

type Source = Pick<RemoteCache, 'readBlobs' | 'readFile'>;

/**
 * Writes the outputs that are to come here, or none.
 * @param paths `declared`: those that the result may name; `brings`: those that come here.
 * @param folder where the outputs are written, at the declared paths.
 * @returns all outputs.
 * @throws RemoteError as `listOutputs`, and `remote-damaged` for content that does not match; file system errors.
 */
export async function downloadOutputs(
  cache: Source,
  result: WireResult,
  { declared, brings }: Readonly<Record<'declared' | 'brings', ReadonlySet<string>>>,
  folder: string,
): Promise<ListedOutputs> {
  try {
    const listed = await listOutputs(cache, result, declared);
    const wanted: OutputFile[] = listed.files.filter(({ path }) => brings.has(path));
    for (const { path, entries } of listed.trees.filter(tree => brings.has(tree.path))) {
      await mkdir(join(folder, path), { recursive: true });
      for (const entry of entries) {
        const at = join(folder, path, entry.path);
        await mkdir(entry.kind === 'folder' ? at : dirname(at), { recursive: true });
        if (entry.kind === 'symlink') await symlink(entry.target, at);
        if (entry.kind === 'file')
          wanted.push({
            path: `${path}/${entry.path}`,
            blob: { hash: entry.digest, sizeBytes: entry.sizeBytes },
            executable: entry.executable,
          });
      }
    }
    await writeFiles(
      cache,
      wanted.map(file => ({ ...file, path: join(folder, file.path) })),
    );
    return listed;
  } catch (error) {
    for (const path of declared) await rm(join(folder, path), { recursive: true, force: true });
    throw error;
  }
}

/** @param files with absolute paths. */
async function writeFiles(cache: Source, files: readonly OutputFile[]): Promise<void> {
  for (const { path } of files) await mkdir(dirname(path), { recursive: true });
  const large = files.filter(({ blob }) => blob.sizeBytes > LARGE_BYTES);
  const small = files.filter(({ blob }) => blob.sizeBytes <= LARGE_BYTES);
  // None may still write when the caller removes what was written.
  const ends = await Promise.allSettled(
    large.map(async ({ path, blob, executable }) => {
      if ((await cache.readFile(blob, path)) === 'missing') throw lostOutput(path);
      await chmod(path, executable ? 0o700 : 0o600);
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  for (const group of groupsOf(small, ({ blob }) => blob.sizeBytes)) {
    const found = await cache.readBlobs(group.map(({ blob }) => blob));
    for (const { path, blob, executable } of group) {
      const bytes = found.get(blob.hash);
      if (bytes === undefined) throw lostOutput(path);
      await writeFile(path, bytes, { flag: 'wx', mode: executable ? 0o700 : 0o600 });
    }
  }
}
