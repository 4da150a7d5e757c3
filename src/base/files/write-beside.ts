/** Atomic writing of files: all are written under temporary names next to their destinations and renamed when the last one is complete. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { CodedError } from '../coded-error.js';

export interface NewFile {
  readonly path: string;
  readonly write: (file: FileHandle) => Promise<void>;
}

/**
 * Writes `files` in order, then renames them in order; missing folders are created. If one fails, none appears.
 * `flush`: the files survive a power failure.
 * @throws CodedError `not-a-file` if a folder or device has the name of a file.
 */
export async function writeBeside(files: readonly NewFile[], flush: 'flush' | 'no-flush'): Promise<void> {
  const written: { readonly path: string; readonly temporary: string }[] = [];
  try {
    for (const { path, write } of files) {
      await assertReplaceable(path);
      await mkdir(dirname(path), { recursive: true });
      const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
      written.push({ path, temporary });
      await writeOne(temporary, write, flush);
    }
    for (const { path, temporary } of written) await rename(temporary, path);
  } catch (error) {
    for (const { temporary } of written) await rm(temporary, { force: true });
    throw error;
  }
}

async function writeOne(path: string, write: NewFile['write'], flush: 'flush' | 'no-flush'): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await write(file);
    if (flush === 'flush') await file.datasync();
  } finally {
    await file.close();
  }
}

async function assertReplaceable(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isFile() || found.isSymbolicLink()) return;
  throw new CodedError(
    'not-a-file',
    `"${basename(path)}" cannot be written: it is ${found.isDirectory() ? 'a folder' : 'a device'}, not a file`,
    {
      help: 'name another file',
    },
  );
}
