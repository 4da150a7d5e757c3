/** The versions of packages that the lock file of a package manager installs, at a commit and now. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject, parseJson } from '../../../base/json.js';
import { statPath } from '../../store/files/stamp.js';
import { showFile } from '../history/git-show.js';
import type { GitContents, Identities } from './git-contents.js';

const NPM_FILES = ['npm-shrinkwrap.json', 'package-lock.json'];
const OTHER_FILES = ['yarn.lock', 'pnpm-lock.yaml', 'bun.lock'];

/**
 * A function that gives the identity of the installed versions of packages. Lock files of npm are read; if one of another package manager
 * has changed, every package has. Without a lock file no package has.
 */
export function readPackageVersions(projectFolder: string, commit: string, contents: GitContents): (names: Iterable<string>) => Identities {
  const found = findLockFile(projectFolder, contents);
  if (found === undefined) return () => UNCHANGED;
  const { before, now } = contents.identify(found.path);
  if (before === now) return () => UNCHANGED;
  if (found.kind === 'other') return () => ({ before, now });
  const earlier = versionsIn(showFile(projectFolder, commit, found.path)?.toString());
  const current = versionsIn(statPath(found.path) === undefined ? undefined : readFileSync(found.path, 'utf8'));
  return names => {
    const sorted = [...new Set(names)].sort();
    return { before: listVersions(sorted, earlier), now: listVersions(sorted, current) };
  };
}

const UNCHANGED: Identities = { before: '', now: '' };

interface LockFile {
  readonly path: string;
  readonly kind: 'npm' | 'other';
}

/** The nearest lock file of the project folder and those above it, as far as git knows them. */
function findLockFile(projectFolder: string, contents: GitContents): LockFile | undefined {
  for (let folder = projectFolder; ; folder = dirname(folder)) {
    for (const name of [...NPM_FILES, ...OTHER_FILES]) {
      const path = join(folder, name);
      if (contents.knows(path) === 'known') return { path, kind: NPM_FILES.includes(name) ? 'npm' : 'other' };
    }
    if (folder === dirname(folder)) return undefined;
  }
}

/** Versions by package name. A package may be installed in several versions. */
function versionsIn(text: string | undefined): ReadonlyMap<string, readonly string[]> {
  const document = text === undefined ? undefined : parseJson(text);
  const versions = new Map<string, string[]>();
  if (!isJsonObject(document) || !isJsonObject(document.packages)) return versions;
  for (const [path, entry] of Object.entries(document.packages)) {
    const name = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
    if (name === undefined || !isJsonObject(entry)) continue;
    versions.set(name, [...(versions.get(name) ?? []), `${String(entry.version)} ${String(entry.integrity)}`]);
  }
  return versions;
}

function listVersions(names: readonly string[], versions: ReadonlyMap<string, readonly string[]>): string {
  return names.map(name => `${name}: ${[...(versions.get(name) ?? [])].sort().join(', ')}`).join('; ');
}
