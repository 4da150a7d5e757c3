/**
 * The folders to watch for changes of given paths.
 * A folder reports what is created, changed, renamed and removed in it, so one watch covers thousands of files.
 */
import type { Dirent } from 'node:fs';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

/** Absolute folders, each with the relevant names in it. */
export type WatchPoints = ReadonlyMap<string, ReadonlySet<string> | 'all'>;

export interface WatchedPaths {
  /** Files and folders, existing or not. Their content matters, also through symbolic links. */
  readonly paths: readonly string[];
  /** Nothing above this folder is expected to appear or disappear. */
  readonly projectFolder: string;
}

/** The maximum number of links on one path, as in Linux. */
const LINKS = 40;

/**
 * The folders that contain the paths. For each path this includes the folders above it, so that a folder that is removed and created again
 * is noticed, and the targets of links.
 * If a folder cannot be read, the folder above it is watched.
 */
export function findWatchPoints({ paths, projectFolder }: WatchedPaths): WatchPoints {
  const points = new Map<string, Set<string> | 'all'>();
  const seen = new Set<string>();
  const add = (folder: string, name: string): void => {
    const names = points.get(folder) ?? new Set();
    points.set(folder, names);
    if (names !== 'all') names.add(name);
  };

  const follow = (path: string, links: number): void => {
    if (links > LINKS || seen.has(path)) return;
    seen.add(path);
    for (let at = path; dirname(at) !== at; at = dirname(at)) {
      add(dirname(at), basename(at));
      followLink(at, relative(at, path), links);
      if (dirname(at) === projectFolder) break;
    }
    if (isFolder(path)) addTree(path, links);
  };

  /** Adds the target of a link, and the rest of the path below it. */
  const followLink = (path: string, rest: string, links: number): void => {
    const target = findTarget(path);
    if (target !== undefined) follow(join(resolve(dirname(path), target), rest), links + 1);
  };

  const addTree = (folder: string, links: number): void => {
    if (points.get(folder) === 'all') return;
    points.set(folder, 'all');
    for (const entry of listFolder(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) addTree(path, links);
      else if (entry.isSymbolicLink()) followLink(path, '', links);
    }
  };

  for (const path of paths) follow(path, 0);
  return points;
}

function findTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

function listFolder(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
