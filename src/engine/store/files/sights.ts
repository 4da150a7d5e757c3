/** Recorded stamps and names of files, and the check that they are unchanged. File contents are not read. */
import { readdirSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isJsonObject, type Json } from '../../../base/json.js';
import { isMissing } from '../../model/engine-error.js';
import { stampOf, stampOfLink } from './stamp.js';
import { listStamps, walkFolder } from './tree.js';

/** Paths are absolute, or relative to a base. Paths and stamps alternate in one array, because there may be many. */
export interface Sights {
  /** Path, stamp, path, stamp …: stamps of the paths themselves, links not followed; '' for a missing path. */
  readonly itself: readonly string[];
  /** The same, with links followed. */
  readonly followed: readonly string[];
  readonly trees: readonly TreeSight[];
  readonly names: readonly NamesSight[];
}

/** The stamps of everything in a folder. */
export interface TreeSight {
  readonly path: string;
  readonly links: 'follow' | 'keep';
  readonly stamps: string;
}

/** The sorted names of the entries of a folder; none if the folder is missing. */
export interface NamesSight {
  readonly path: string;
  readonly names: readonly string[];
}

export const NO_SIGHTS: Sights = { itself: [], followed: [], trees: [], names: [] };

export function joinSights(parts: readonly Sights[]): Sights {
  return {
    itself: parts.flatMap(part => part.itself),
    followed: parts.flatMap(part => part.followed),
    trees: parts.flatMap(part => part.trees),
    names: parts.flatMap(part => part.names),
  };
}

export function seeTree(path: string, links: 'follow' | 'keep', base: string): TreeSight {
  return { path, links, stamps: listStamps(walkFolder(resolveFrom(base, path), links)) };
}

export function seeNames(path: string, base: string): NamesSight {
  return { path, names: namesIn(resolveFrom(base, path)) };
}

/** Whether all stamps and names are unchanged. @throws file system errors if a path cannot be read. */
export function looksTheSame(sights: Sights, base: string): boolean {
  return findDifferent(sights, base) === undefined;
}

/**
 * The first path whose stamps or names have changed. Paths that are most likely to change are checked first.
 * @throws like `looksTheSame`.
 */
export function findDifferent({ itself, followed, trees, names }: Sights, base: string): string | undefined {
  for (let i = 0; i < followed.length; i += 2) if (stampOf(resolveFrom(base, followed[i] ?? '')) !== followed[i + 1]) return followed[i];
  for (const sight of names) if (namesIn(resolveFrom(base, sight.path)).join('/') !== sight.names.join('/')) return sight.path;
  for (let i = 0; i < itself.length; i += 2) if (stampOfLink(resolveFrom(base, itself[i] ?? '')) !== itself[i + 1]) return itself[i];
  return trees.find(({ path, links, stamps }) => seeTree(path, links, base).stamps !== stamps)?.path;
}

/** Parses recorded stamps and names from JSON; undefined if `value` is malformed. */
export function parseSights(value: Json | undefined): Sights | undefined {
  if (!isJsonObject(value)) return undefined;
  const { itself, followed, trees, names } = value;
  if (!isTexts(itself) || !isTexts(followed) || !Array.isArray(trees) || !Array.isArray(names)) return undefined;
  if (!trees.every(isTreeSight) || !names.every(isNamesSight)) return undefined;
  return { itself, followed, trees, names };
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(one => typeof one === 'string');
}

function isTreeSight(value: unknown): value is TreeSight {
  if (typeof value !== 'object' || value === null || !('path' in value) || !('links' in value) || !('stamps' in value)) return false;
  return typeof value.path === 'string' && (value.links === 'follow' || value.links === 'keep') && typeof value.stamps === 'string';
}

function isNamesSight(value: unknown): value is NamesSight {
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

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
