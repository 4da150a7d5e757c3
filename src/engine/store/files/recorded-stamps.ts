/** Recorded stamps and names of files, and the check that they are unchanged. File contents are not read. */
import { readdirSync, realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isJsonObject, type Json } from '../../../base/json.js';
import { isMissing } from '../../../base/system-error.js';
import { stampOf, stampOfLink } from './stamp.js';
import { listStamps, walkFolder } from './tree.js';

/** Paths are absolute, or relative to a base. Paths and stamps alternate in one array, because there may be many. */
export interface RecordedStamps {
  /** Path, stamp, path, stamp …: stamps of the paths themselves, links not followed; '' for a missing path. */
  readonly itself: readonly string[];
  /** The same, with links followed. */
  readonly followed: readonly string[];
  /** Path, path without links, …: a folder that becomes a link to where it was moved changes no stamp of the files in it. */
  readonly places: readonly string[];
  readonly trees: readonly TreeStamps[];
  readonly names: readonly FolderNames[];
}

/** The stamps of everything in a folder. */
export interface TreeStamps {
  readonly path: string;
  readonly links: 'follow' | 'keep';
  readonly stamps: string;
}

/** The sorted names of the entries of a folder; none if the folder is missing. */
export interface FolderNames {
  readonly path: string;
  readonly names: readonly string[];
}

export const NO_STAMPS: RecordedStamps = { itself: [], followed: [], places: [], trees: [], names: [] };

export function joinStamps(parts: readonly RecordedStamps[]): RecordedStamps {
  return {
    itself: parts.flatMap(part => part.itself),
    followed: parts.flatMap(part => part.followed),
    places: parts.flatMap(part => part.places),
    trees: parts.flatMap(part => part.trees),
    names: parts.flatMap(part => part.names),
  };
}

export function stampTree(path: string, links: 'follow' | 'keep', base: string): TreeStamps {
  return { path, links, stamps: listStamps(walkFolder(resolveFrom(base, path), links)) };
}

export function readNames(path: string, base: string): FolderNames {
  return { path, names: namesIn(resolveFrom(base, path)) };
}

/** Whether all stamps and names are unchanged. @throws file system errors if a path cannot be read. */
export function areUnchanged(stamps: RecordedStamps, base: string): boolean {
  return findChangedPath(stamps, base) === undefined;
}

/**
 * The first path whose stamps or names have changed. Paths that are most likely to change are checked first.
 * @throws like `areUnchanged`.
 */
export function findChangedPath({ itself, followed, places, trees, names }: RecordedStamps, base: string): string | undefined {
  for (let i = 0; i < followed.length; i += 2) if (stampOf(resolveFrom(base, followed[i] ?? '')) !== followed[i + 1]) return followed[i];
  for (const folder of names) if (namesIn(resolveFrom(base, folder.path)).join('/') !== folder.names.join('/')) return folder.path;
  for (let i = 0; i < itself.length; i += 2) if (stampOfLink(resolveFrom(base, itself[i] ?? '')) !== itself[i + 1]) return itself[i];
  for (let i = 0; i < places.length; i += 2) if (findRealPath(resolveFrom(base, places[i] ?? '')) !== places[i + 1]) return places[i];
  return trees.find(({ path, links, stamps }) => stampTree(path, links, base).stamps !== stamps)?.path;
}

/** Parses recorded stamps and names from JSON; undefined if `value` is malformed. */
export function parseStamps(value: Json | undefined): RecordedStamps | undefined {
  if (!isJsonObject(value)) return undefined;
  const { itself, followed, places, trees, names } = value;
  if (!isTexts(itself) || !isTexts(followed) || !isTexts(places) || !Array.isArray(trees) || !Array.isArray(names)) return undefined;
  if (!trees.every(isTreeStamps) || !names.every(isFolderNames)) return undefined;
  return { itself, followed, places, trees, names };
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(one => typeof one === 'string');
}

function isTreeStamps(value: unknown): value is TreeStamps {
  if (typeof value !== 'object' || value === null || !('path' in value) || !('links' in value) || !('stamps' in value)) return false;
  return typeof value.path === 'string' && (value.links === 'follow' || value.links === 'keep') && typeof value.stamps === 'string';
}

function isFolderNames(value: unknown): value is FolderNames {
  return (
    typeof value === 'object' &&
    value !== null &&
    'path' in value &&
    'names' in value &&
    typeof value.path === 'string' &&
    isTexts(value.names)
  );
}

function resolveFrom(base: string, path: string): string {
  return isAbsolute(path) ? path : `${base}/${path}`;
}

function findRealPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    // An error of Node takes longer than a stamp.
    return stampOf(folder) === '' ? [] : readdirSync(folder).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
