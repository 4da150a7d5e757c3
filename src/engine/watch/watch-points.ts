/** Which folders tell of every change of some paths? A folder tells of what is made, changed, renamed and removed in it: one watch does for thousands of files. */
import type { Dirent } from 'node:fs';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

/** Absolute folders, each with the names in it that matter. */
export type WatchPoints = ReadonlyMap<string, ReadonlySet<string> | 'all'>;

export interface WatchedPaths {
  /** Files and folders, there or not. What they hold matters, through symbolic links too. */
  readonly paths: readonly string[];
  /** Above this folder nothing is expected to come or go. */
  readonly projectFolder: string;
}

/** How many links one path may lead through: as many as Linux follows. */
const LINKS = 40;

/**
 * The folders that hold the paths; for each path also the folders above it, so that one that is removed and made again is seen, and where links lead.
 * Of what cannot be read, what is above it is watched.
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

  /** Where a link leads, and from there on. */
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
