/** Attacks on what a build wrote: older copies of it are put back, files are exchanged, linked or give way to something else, and strangers' files are laid down. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode } from '../../../src/base/system-error.js';

/** A project under attack. Paths are relative to its folder. */
export interface Place {
  readonly folder: string;
  readonly random: () => number;
  /** Files that no build wrote, with their content. */
  readonly foreign: Map<string, string>;
  /** A folder outside of the project for copies of what stood there earlier. */
  readonly copies: string;
  /** Some outputs of its stages that are files, folders that may become links, and a source. */
  readonly outputs: readonly string[];
  readonly folders: readonly string[];
  readonly source: string;
}

const KEEPSAKES = ['cache', 'cache/state', 'cache/actions', 'cache/cas', 'cache/history', 'artifacts', 'pipeline.lock'];

/** What stands in the way of the engine's own files: older forms of them, others in their places, and files of strangers. */
export const EXCHANGES: Readonly<Record<string, (place: Place) => void>> = {
  'a copy is made': ({ folder, random, copies }) => copyTo(folder, pick(random, KEEPSAKES), copies),
  'an older copy is put back': ({ folder, random, copies, foreign }) => {
    const name = pick(random, KEEPSAKES);
    const from = join(copies, name.replaceAll('/', '+'));
    if (!existsSync(from) || !isFree(foreign, `${name}/`)) return;
    rmSync(join(folder, name), { recursive: true, force: true });
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(from, join(folder, name), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  },
  'one older file is put back': ({ folder, random, copies }) => {
    const from = join(copies, 'cache');
    const files = listFiles(from);
    if (files.length === 0) return;
    const name = pick(random, files);
    const to = join(folder, 'cache', name);
    if (existsSync(dirname(to))) cpSync(join(from, name), to, { preserveTimestamps: true, force: true });
  },
  'two files of one folder are exchanged': arena =>
    exchange(arena, pick(arena.random, ['cache/actions', 'cache/cas', 'cache/state', 'cache'])),
  'a file of the cache takes the content of another': ({ folder, random, foreign }) => {
    const files = ownFiles(folder, foreign);
    if (files.length < 2) return;
    writeOver(join(folder, pick(random, files)), readFileSync(join(folder, pick(random, files))));
  },
  'lines of a state file are shuffled': ({ folder, random, foreign }) => {
    const files = ownFiles(folder, foreign).filter(name => /^cache\/(state|history|plans)\//.test(name));
    if (files.length === 0) return;
    const path = join(folder, pick(random, files));
    const lines = readFileSync(path, 'utf8').split('\n');
    writeOver(
      path,
      lines
        .map(line => ({ line, at: random() }))
        .sort((a, b) => a.at - b.at)
        .map(({ line }) => line)
        .join('\n'),
    );
  },
  'an artifact becomes a hard link of a foreign file': ({ folder, random, foreign, outputs }) => {
    const at = join(folder, pick(random, outputs));
    if (!existsSync(at)) return;
    layForeign({ folder, random, foreign }, `mine-${foreign.size}.txt`);
    rmSync(at);
    linkSync(join(folder, [...foreign.keys()].at(-1) ?? ''), at);
  },
  'an artifact becomes a hard link of a source': ({ folder, random, outputs, source }) => {
    const at = join(folder, pick(random, outputs));
    if (!existsSync(at)) return;
    rmSync(at);
    linkSync(join(folder, source), at);
  },
  'a blob becomes a hard link of a foreign file': ({ folder, random, foreign }) => {
    const blobs = ownFiles(folder, foreign).filter(name => name.startsWith('cache/cas/'));
    if (blobs.length === 0) return;
    layForeign({ folder, random, foreign }, `mine-${foreign.size}.txt`);
    const at = join(folder, pick(random, blobs));
    rmSync(at);
    linkSync(join(folder, [...foreign.keys()].at(-1) ?? ''), at);
  },
  'a file gives way to a folder or a pipe': ({ folder, random, foreign, outputs }) => {
    const files = [...ownFiles(folder, foreign), ...outputs, 'cache/lock'];
    const name = pick(
      random,
      files.filter(file => !file.endsWith('.tanren')),
    );
    const path = join(folder, name);
    if (!existsSync(path) || !isFree(foreign, `${name}/`)) return;
    rmSync(path, { recursive: true });
    if (random() < 0.5) mkdirSync(path);
    else execFileSync('mkfifo', [path]);
  },
  'a folder becomes a link to where it was moved': ({ folder, random, foreign, folders }) => {
    const name = pick(random, ['artifacts', 'cache', 'cache/cas', 'cache/state', ...folders]);
    const path = join(folder, name);
    const moved = `moved-${name.replaceAll('/', '-')}`;
    if (!existsSync(path) || lstatSync(path).isSymbolicLink() || existsSync(join(folder, moved)) || !isFree(foreign, `${name}/`)) return;
    renameSync(path, join(folder, moved));
    symlinkSync(join(folder, moved), path);
  },
  'a foreign file is laid down': ({ folder, random, foreign }) => {
    const where = pick(random, ['artifacts', 'artifacts/own', 'cache', 'cache/tmp', 'cache/state', 'cache/actions', 'cache/cas/00']);
    layForeign({ folder, random, foreign }, `${where}/mine-${foreign.size}.txt`);
  },
};

export function pick<T>(random: () => number, from: readonly T[]): T {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error('there is nothing to pick from');
  return found;
}

function copyTo(folder: string, name: string, copies: string): void {
  if (!existsSync(join(folder, name))) return;
  const to = join(copies, name.replaceAll('/', '+'));
  rmSync(to, { recursive: true, force: true });
  const isPlain = (path: string): boolean => {
    const found = lstatSync(path);
    return (found.isFile() || found.isDirectory() || found.isSymbolicLink()) && !path.endsWith('/cache/lock');
  };
  cpSync(join(folder, name), to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter: isPlain });
}

function exchange({ folder, random, foreign }: Place, below: string): void {
  const files = ownFiles(folder, foreign).filter(name => name.startsWith(`${below}/`));
  if (files.length < 2) return;
  const [a, b] = [pick(random, files), pick(random, files)].map(name => join(folder, name));
  if (a === undefined || b === undefined || a === b) return;
  renameSync(a, `${a}.exchange`);
  renameSync(b, a);
  renameSync(`${a}.exchange`, b);
}

/** A new file in the place of the old one, so that a foreign file with the same inode is not changed. */
export function writeOver(path: string, content: Buffer | string): void {
  rmSync(path, { force: true });
  writeFileSync(path, content, { mode: 0o600 });
}

function layForeign({ folder, random, foreign }: Pick<Place, 'folder' | 'random' | 'foreign'>, name: string): void {
  const content = `mine ${random()}\n`;
  try {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  } catch {
    return; // Another attack has put something else where its folder is.
  }
  foreign.set(name, content);
}

export function isFree(foreign: ReadonlyMap<string, string>, prefix: string): boolean {
  return [...foreign.keys()].every(path => !path.startsWith(prefix));
}

/** In a run's own folder, files cannot be told from those that its stage writes. */
const RUN_FOLDER = /^tmp\/run-/;

/** Files of the cache that a build wrote, those of runs left out. */
export function ownFiles(folder: string, foreign: ReadonlyMap<string, string>): readonly string[] {
  return listFiles(join(folder, 'cache'))
    .map(name => `cache/${name}`)
    .filter(name => !foreign.has(name));
}

/** Files in a cache folder, or in a copy of one. */
function listFiles(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter(name => !RUN_FOLDER.test(name))
    .sort();
}

/** Two attacks met: one has moved or replaced what the other works on. */
export function isCollision(error: unknown): boolean {
  return hasCode(
    error,
    'ENOENT',
    'ENOTEMPTY',
    'EEXIST',
    'ENOTDIR',
    'EISDIR',
    'EINVAL',
    'ENXIO',
    'EFTYPE',
    'ELOOP',
    'ERR_FS_EISDIR',
    'ERR_FS_CP_EINVAL',
  );
}
