/** What was seen in the file system, and does it still look the same? Stamps and names; nothing is read. */
import { readdirSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isMissing } from '../../model/engine-error.js';
import { stampOf, stampOfLink } from './stamp.js';
import { listStamps, walkFolder } from './tree.js';

/** Paths are absolute, or relative to a base. They and their stamps stand one after the other, as there may be many. */
export interface Sights {
  /** Path, stamp, path, stamp …: of what stands there itself; '' for nothing. */
  readonly itself: readonly string[];
  /** The same, of what links lead to. */
  readonly followed: readonly string[];
  readonly trees: readonly TreeSight[];
  readonly names: readonly NamesSight[];
}

/** All that is in a folder, with its stamps. */
export interface TreeSight {
  readonly path: string;
  readonly links: 'follow' | 'keep';
  readonly stamps: string;
}

/** What the entries of a folder are called, sorted; none where there is no folder. */
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

/** Does everything look as it was seen? What is most likely to have changed comes first. @throws what the file system throws where it does not let us look. */
export function looksTheSame({ itself, followed, trees, names }: Sights, base: string): boolean {
  for (let i = 0; i < followed.length; i += 2) if (stampOf(resolveFrom(base, followed[i] ?? '')) !== followed[i + 1]) return false;
  for (const sight of names) if (namesIn(resolveFrom(base, sight.path)).join('/') !== sight.names.join('/')) return false;
  for (let i = 0; i < itself.length; i += 2) if (stampOfLink(resolveFrom(base, itself[i] ?? '')) !== itself[i + 1]) return false;
  return trees.every(({ path, links, stamps }) => seeTree(path, links, base).stamps === stamps);
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
