/** Which commit is checked out in the repository of a project? Read from git's files: no program is started. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Revision } from './run-record.js';

/** A repository of very many references keeps them in a file larger than is read here: its revision is then not known. */
const MOST_BYTES = 50_000_000;
const MOST_STEPS = 5;

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * The commit of HEAD, and its branch where there is one; undefined outside of a repository, before the first commit, and in a repository whose references are
 * not in files.
 * @see https://git-scm.com/docs/gitrepository-layout and https://git-scm.com/docs/git-pack-refs
 */
export function findRevision(projectFolder: string): Revision | undefined {
  const folder = findGitFolder(projectFolder);
  if (folder === undefined) return undefined;
  const common = commonFolderOf(folder);
  let name = 'HEAD';
  for (let step = 0; step < MOST_STEPS; step++) {
    const text = readText(join(folder, name)) ?? readText(join(common, name)) ?? findPacked(common, name);
    if (text === undefined) return undefined;
    if (COMMIT.test(text)) return name === 'HEAD' ? { commit: text } : { commit: text, branch: name.replace(/^refs\/heads\//, '') };
    const target = /^ref: (refs\/\S+)$/.exec(text)?.[1];
    if (target === undefined || target.split('/').includes('..')) return undefined;
    name = target;
  }
  return undefined;
}

/** The folder with HEAD: `.git` here or in a folder above, or what a `.git` file names (worktrees, submodules). */
function findGitFolder(start: string): string | undefined {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const path = join(folder, '.git');
    const kind = kindOf(path);
    if (kind === 'folder') return path;
    const target = kind === 'file' ? /^gitdir: (.+)$/.exec(readText(path) ?? '')?.[1] : undefined;
    if (target !== undefined) return isAbsolute(target) ? target : resolve(folder, target);
    if (folder === dirname(folder)) return undefined;
  }
}

/** A worktree has a HEAD of its own, and shares the references. */
function commonFolderOf(folder: string): string {
  const common = readText(join(folder, 'commondir'));
  return common === undefined ? folder : resolve(folder, common);
}

function findPacked(common: string, name: string): string | undefined {
  const packed = readText(join(common, 'packed-refs'));
  const line = packed?.split('\n').find(one => one.endsWith(` ${name}`) && !one.startsWith('#'));
  return line?.slice(0, line.indexOf(' '));
}

function kindOf(path: string): 'folder' | 'file' | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isDirectory() ? 'folder' : stats?.isFile() ? 'file' : undefined;
  } catch {
    return undefined;
  }
}

/** Whatever cannot be read is not known: the revision is told, and decides nothing. */
function readText(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() && stats.size <= MOST_BYTES ? readFileSync(path, 'utf8').trim() : undefined;
  } catch {
    return undefined;
  }
}
