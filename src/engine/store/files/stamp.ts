/** File stamps: inode, size, times and mode, which show whether a file has changed since it was digested, without reading it. */
import type { BigIntStats } from 'node:fs';
import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Brand } from '../../../base/brand.js';
import { isMissing } from '../../../base/system-error.js';

/** Equal stamps of a settled file mean equal content. */
export type Stamp = Brand<string, 'Stamp'>;

export interface FileStat {
  readonly kind: 'file' | 'folder' | 'symlink' | 'other';
  readonly stamp: Stamp;
  readonly sizeBytes: number;
  readonly executable: boolean;
  readonly modifiedMs: number;
  /** When the inode last changed. No program can set this time back. */
  readonly changedMs: number;
  /** Whether the times of the file system may be whole seconds: of finer times, one in 10⁹ is. */
  readonly isCoarse: boolean;
}

/** Times in nanoseconds; undefined if nothing is there. */
const EXACT = { bigint: true, throwIfNoEntry: false } as const;

/** Metadata of `path` with links followed; undefined if nothing is there. */
export function statPath(path: string): FileStat | undefined {
  const stats = findStats(() => statSync(path, EXACT));
  return stats === undefined ? undefined : toFileStat(stats);
}

/** Like `statPath`, for the link itself. */
export function statLink(path: string): FileStat | undefined {
  const stats = findStats(() => lstatSync(path, EXACT));
  return stats === undefined ? undefined : toFileStat(stats);
}

/** The stamp of `path` itself, links not followed; '' if nothing is there. */
export function stampOfLink(path: string): Stamp | '' {
  // Thousands of calls of a process that has just started: nothing is created for one.
  try {
    const stats = lstatSync(path, EXACT);
    return stats === undefined ? '' : toStamp(stats);
  } catch (error) {
    if (isMissing(error)) return '';
    throw error;
  }
}

/** Like `stampOfLink`, with links followed. */
export function stampOf(path: string): Stamp | '' {
  const stats = findStats(() => statSync(path, EXACT));
  return stats === undefined ? '' : toStamp(stats);
}

/** The number of links that Linux follows. */
const MOST_LINKS = 40;

/**
 * Stamps of the symbolic links from `path` to its target, one per line; '' if `path` is not a link. A link that is replaced and then
 * restored has another stamp.
 */
export function stampsOfLinks(path: string): string {
  const stamps: Stamp[] = [];
  for (let at = path; stamps.length < MOST_LINKS; ) {
    const stat = statLink(at);
    if (stat?.kind !== 'symlink') break;
    stamps.push(stat.stamp);
    const target = findTarget(at);
    if (target === undefined) break;
    at = resolve(dirname(at), target);
  }
  return stamps.join('\n');
}

/** The target of a link as written; undefined if nothing is there. */
export function findTarget(link: string): string | undefined {
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

/** A path below a regular file counts as missing. */
function findStats(read: () => BigIntStats | undefined): BigIntStats | undefined {
  try {
    return read();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function toFileStat(stats: BigIntStats): FileStat {
  return {
    kind: stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'symlink' : 'other',
    stamp: toStamp(stats),
    sizeBytes: Number(stats.size),
    executable: isExecutable(stats),
    modifiedMs: Number(stats.mtimeNs / 1_000_000n),
    changedMs: Number(stats.ctimeNs / 1_000_000n),
    isCoarse: stats.ctimeNs % 1_000_000_000n === 0n,
  };
}

/**
 * The maximum lag of a file system's clock: some kernel ticks, or two seconds where times are whole seconds (FAT, some network file
 * systems).
 */
const RACY_WINDOW_MS = { fine: 50, coarse: 2_000 };

/**
 * Whether a later change could leave the stamp unchanged: the inode changed too shortly before it was read, or its time lies in the
 * future.
 * Such a stamp proves nothing, and the file is digested again next time.
 */
export function isRacy(stat: FileStat, takenMs: number): boolean {
  const windowMs = stat.isCoarse ? RACY_WINDOW_MS.coarse : RACY_WINDOW_MS.fine;
  return stat.changedMs > takenMs - windowMs;
}
