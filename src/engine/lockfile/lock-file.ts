/** Reads lock files within a size limit, and writes them atomically. */
import { existsSync, realpathSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FORBIDDEN, hasCode, isMissing } from '../../base/system-error.js';
import { messageOf } from '../model/engine-error.js';
import type { CacheFolder } from '../store/cache-folder.js';
import { readRegularText } from '../store/files/read-regular.js';
import type { Stamp } from '../store/files/stamp.js';
import { statPath } from '../store/files/stamp.js';
import type { Lock } from './lock.js';
import type { LockFile } from './lock-path.js';
import { LockRefused } from './lock-refused.js';
import { parseLock } from './parse-lock.js';

/** Far above the size of any lock file (10,000 stages take 15 MB), and far below what would exhaust memory. */
const MAX_BYTES = 256 * 1024 * 1024;

export interface ReadLock {
  readonly text: string;
  readonly lock: Lock;
}

/** Undefined if there is no file. @throws LockRefused `lock-unreadable` and the errors of `parseLock`. */
export function readLockFile({ path, name }: LockFile): ReadLock | undefined {
  const text = readText(path, name);
  return text === undefined ? undefined : { text, lock: parseLock(text, name) };
}

function readText(path: string, name: string): string | undefined {
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw unreadable(name, `it has ${size} bytes`);
    return readRegularText(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error instanceof LockRefused ? error : unreadable(name, messageOf(error));
  }
}

function unreadable(name: string, why: string): LockRefused {
  const help = 'restore the lock file that tanren wrote, or remove what is in its place';
  return new LockRefused(
    [{ severity: 'error', code: 'lock-unreadable', message: `${name} cannot be read: ${why}`, span: undefined, help }],
    new Map(),
  );
}

/** Git may have converted the line ends to those of the system. */
export function sameText(written: string, wanted: string): boolean {
  return written === wanted || written.replaceAll('\r\n', '\n') === wanted;
}

const BACKDATE_S = 2;

/**
 * Replaces the lock file through a temporary file in the cache, where the next build removes the remains of a killed one.
 * @returns the stamp of the written file: any later edit, however soon, changes it.
 * @throws file system errors.
 */
export async function writeLockFile({ path }: LockFile, text: string, cache: CacheFolder): Promise<Stamp | undefined> {
  const target = followLink(path);
  const elsewhere = cache.newTemporary('lock');
  const beside = join(dirname(target), `.${basename(target)}.tmp`);
  try {
    await put(existsSync(cache.temporary) ? elsewhere : beside, text, target);
  } catch (error) {
    // The cache is on another file system, or cannot be written.
    if (!hasCode(error, 'EXDEV', 'EROFS', 'ENOENT', ...FORBIDDEN)) throw error;
    await put(beside, text, target);
  }
  return statPath(path)?.stamp;
}

/** A lock file that is a symbolic link stays a link: its target is replaced. */
function followLink(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

async function put(temporary: string, text: string, path: string): Promise<void> {
  try {
    writeFileSync(temporary, text);
    const file = await open(temporary, 'r+');
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
    const time = Math.floor(Date.now() / 1000) - BACKDATE_S;
    utimesSync(temporary, time, time);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
