/** Reads the commit that is checked out in the repository of a project from git's files, without starting a program. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Revision } from './run-record.js';

/** Larger reference files are not read, so the revision of a repository with very many references is unknown. */
const MOST_BYTES = 50_000_000;
const MOST_STEPS = 5;

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * The commit of HEAD, and its branch if it is on one. Undefined outside of a repository, before the first commit, and in a repository
 * whose references are not stored in files.
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

/** The folder with HEAD: `.git` here or in a folder above, or the folder that a `.git` file names (worktrees, submodules). */
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

/** A worktree has its own HEAD, and shares the references. */
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

/** Unreadable files count as missing: the revision is only displayed, and no decision depends on it. */
function readText(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() && stats.size <= MOST_BYTES ? readFileSync(path, 'utf8').trim() : undefined;
  } catch {
    return undefined;
  }
}
