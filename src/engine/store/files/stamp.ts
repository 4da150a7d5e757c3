/** Has a file changed since its content was digested? Told by inode, size, times and mode, without reading it. */
import type { BigIntStats } from 'node:fs';
import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Brand } from '../../../base/brand.js';
import { isMissing } from '../../model/engine-error.js';

/** Equal stamps of a settled file mean equal content. */
export type Stamp = Brand<string, 'Stamp'>;

export interface FileLook {
  readonly kind: 'file' | 'folder' | 'symlink' | 'other';
  readonly stamp: Stamp;
  readonly sizeBytes: number;
  readonly executable: boolean;
  readonly modifiedMs: number;
  /** When the inode last changed: no program can set it back. */
  readonly changedMs: number;
}

/** What stands at `path` (links followed), or undefined where nothing does. */
export function lookAt(path: string): FileLook | undefined {
  const stats = findStats(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return stats === undefined ? undefined : toLook(stats);
}

/** As `lookAt`, of the link itself. */
export function lookAtLink(path: string): FileLook | undefined {
  const stats = findStats(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }));
  return stats === undefined ? undefined : toLook(stats);
}

/** The stamp alone of what stands at `path` itself: '' for nothing. */
export function stampOfLink(path: string): Stamp | '' {
  const stats = findStats(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }));
  return stats === undefined ? '' : toStamp(stats);
}

/** As `stampOfLink`, of what a link leads to. */
export function stampOf(path: string): Stamp | '' {
  const stats = findStats(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return stats === undefined ? '' : toStamp(stats);
}

/** As many as Linux follows. */
const MOST_LINKS = 40;

/** Stamps of the symbolic links that lead from `path` to what it names, one per line; '' where `path` is no link. A link that is replaced, and put back, has another stamp. */
export function stampsOfLinks(path: string): string {
  const stamps: Stamp[] = [];
  for (let at = path; stamps.length < MOST_LINKS; ) {
    const look = lookAtLink(at);
    if (look?.kind !== 'symlink') break;
    stamps.push(look.stamp);
    const target = findTarget(at);
    if (target === undefined) break;
    at = resolve(dirname(at), target);
  }
  return stamps.join('\n');
}

function findTarget(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function toStamp(stats: BigIntStats): Stamp {
  return `${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}:${isExecutable(stats) ? 'x' : '-'}` as Stamp;
}

function isExecutable({ mode }: BigIntStats): boolean {
  return (mode & 0o100n) !== 0n;
}

/** Below a file, where a folder should be, stands nothing. */
function findStats(read: () => BigIntStats | undefined): BigIntStats | undefined {
  try {
    return read();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function toLook(stats: BigIntStats): FileLook {
  return {
    kind: stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'symlink' : 'other',
    stamp: toStamp(stats),
    sizeBytes: Number(stats.size),
    executable: isExecutable(stats),
    modifiedMs: Number(stats.mtimeNs / 1_000_000n),
    changedMs: Number(stats.ctimeNs / 1_000_000n),
  };
}

/** How far a file system's clock may lag behind: some ticks of the kernel; where times are whole seconds (FAT, some network file systems), two seconds. */
const RACY_WINDOW_MS = { fine: 50, coarse: 2_000 };

/** May the file system's times be whole seconds? */
export function isCoarse({ changedMs }: FileLook): boolean {
  return changedMs % 1000 === 0;
}

/**
 * Could a later change leave the stamp as it is? So where the inode changed too shortly before it was read, or lies in the future:
 * such a stamp proves nothing, and the file is digested again next time.
 */
export function isRacy(look: FileLook, takenMs: number): boolean {
  const windowMs = isCoarse(look) ? RACY_WINDOW_MS.coarse : RACY_WINDOW_MS.fine;
  return look.changedMs > takenMs - windowMs;
}
