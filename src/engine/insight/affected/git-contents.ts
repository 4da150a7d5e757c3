/** What a path holds at a commit and now, as identities that are equal if the contents are. Git alone is asked, and the working tree is only read. */
import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { EngineError } from '../../model/engine-error.js';
import { statPath } from '../../store/files/stamp.js';
import { type GitEnd, git } from '../history/git-show.js';

export interface GitContents {
  /** @param path absolute. */
  identify(path: string): Identities;
  /** Whether the commit has a file at the absolute path. A file that git does not track is taken to have been there. */
  hadFile(path: string): boolean;
  /** Whether the path is in the commit, or would be in the next one: 'unknown' outside the repository, and for what it ignores. */
  knows(path: string): 'known' | 'unknown';
}

/** undefined: there is nothing. */
export interface Identities {
  readonly before: string | undefined;
  readonly now: string | undefined;
}

/** @throws EngineError `git-failed`. */
export function readGitContents(projectFolder: string, commit: string): GitContents {
  const top = run(projectFolder, ['rev-parse', '--show-toplevel']).stdout.toString().replace(/\n$/, '');
  const entries = entriesAt(top, commit);
  const changed = prefixesOf(changedSince(top, commit));
  const placesOf = (path: string): readonly string[] => {
    const places = [relative(top, realParent(path)), relative(top, realOf(path))];
    return [...new Set(places)].filter(isInside).map(place => place.split(sep).join('/'));
  };
  const before = (place: string): string | undefined => (place === '' ? commit : entries.get(place));
  const hasChanged = (place: string): boolean => changed.touched.has(place) || pathsAbove(place).some(above => changed.paths.has(above));
  return {
    identify(path) {
      const places = placesOf(path).filter(place => before(place) !== undefined || hasChanged(place));
      // What git does not know is taken to be unchanged, if it is there at all.
      if (places.length === 0) return same(statPath(path) === undefined ? undefined : `untracked ${path}`);
      const sides = places.map(place => ({ before: before(place), now: hasChanged(place) ? present(top, place) : before(place) }));
      return { before: joinSides(sides.map(side => side.before)), now: joinSides(sides.map(side => side.now)) };
    },
    hadFile(path) {
      const places = placesOf(path);
      if (places.some(place => /^1/.test(before(place) ?? ''))) return true;
      return !places.some(hasChanged) && statPath(path)?.kind === 'file' && !places.some(place => before(place) !== undefined);
    },
    knows: path => (placesOf(path).some(place => before(place) !== undefined || hasChanged(place)) ? 'known' : 'unknown'),
  };
}

function same(identity: string | undefined): Identities {
  return { before: identity, now: identity };
}

function joinSides(sides: readonly (string | undefined)[]): string | undefined {
  const found = sides.filter(side => side !== undefined);
  return found.length === 0 ? undefined : found.join('+');
}

/** Mode, type and object id of every file and folder of the commit, by path from the top of the repository. */
function entriesAt(top: string, commit: string): ReadonlyMap<string, string> {
  const { stdout } = run(top, ['ls-tree', '-r', '-t', '-z', '--full-tree', commit]);
  const entries = new Map<string, string>();
  for (const line of splitZero(stdout)) {
    const tab = line.indexOf('\t');
    entries.set(line.slice(tab + 1), line.slice(0, tab));
  }
  return entries;
}

/** The paths that differ between the commit and the working tree, and the new ones that git does not ignore. */
function changedSince(top: string, commit: string): readonly string[] {
  const tracked = run(top, ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-relative', commit, '--']);
  const others = run(top, ['ls-files', '--others', '--exclude-standard', '-z']);
  return [...splitZero(tracked.stdout), ...splitZero(others.stdout).map(path => path.replace(/\/$/, ''))];
}

/** `touched`: the changed paths and all folders above them. */
function prefixesOf(paths: readonly string[]): { readonly paths: ReadonlySet<string>; readonly touched: ReadonlySet<string> } {
  const touched = new Set<string>(paths.length === 0 ? [] : ['']);
  for (const path of paths) for (const above of pathsAbove(path)) touched.add(above);
  return { paths: new Set(paths), touched };
}

/** "a/b/c" → "a", "a/b", "a/b/c". */
function pathsAbove(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** The identity of a file as git would store it; of a changed folder no identity equals an earlier one. */
function present(top: string, place: string): string | undefined {
  const stat = statPath(join(top, place));
  if (stat === undefined) return undefined;
  if (stat.kind !== 'file') return `changed ${place}`;
  const id = run(top, ['hash-object', `--path=${place}`, '--', place])
    .stdout.toString()
    .trim();
  return `${stat.executable ? '100755' : '100644'} blob ${id}`;
}

function splitZero(bytes: Buffer): readonly string[] {
  return bytes
    .toString()
    .split('\0')
    .filter(text => text !== '');
}

function isInside(place: string): boolean {
  return place !== '..' && !place.startsWith(`..${sep}`) && !isAbsolute(place);
}

/** The path with links in its folders resolved, but not itself. */
function realParent(path: string): string {
  return join(realOf(dirname(path)), relative(dirname(path), path));
}

/** The path without links; what does not exist is added as it is written. */
function realOf(path: string): string {
  if (path === dirname(path)) return path;
  try {
    return realpathSync.native(path);
  } catch {
    return join(realOf(dirname(path)), relative(dirname(path), path));
  }
}

function run(cwd: string, args: readonly string[]): GitEnd {
  const end = git(cwd, args);
  if (end.status === 0) return end;
  throw new EngineError('git-failed', `git ${args[0]} ended with exit code ${end.status}: ${end.stderr.toString().trim()}`);
}
