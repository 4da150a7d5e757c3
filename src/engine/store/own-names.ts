/** The path patterns of files that Tanren writes in a cache folder. Every other file there is foreign and is kept. */
import type { Dirent } from 'node:fs';
import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode, isMissing } from '../../base/system-error.js';
import { withOpenFolders } from './files/open-folders.js';

/** The suffixes that `writeWhole` and other writers give to incomplete files. */
const TEMPORARY = '(\\.[0-9a-f]{12})?(\\.tmp)?';

/**
 * Paths of files, relative to the cache folder.
 * Older versions wrote no-op records as `state/….seal`, and action locks in `turns/`.
 */
const FILES = [
  /^\.(gitignore|tanren)(\.[0-9a-f]{12}\.tmp)?$/,
  new RegExp(`^cas/([0-9a-f]{2})/\\1[0-9a-f]{62}${TEMPORARY}$`),
  new RegExp(`^actions/([0-9a-f]{2})/\\1[0-9a-f]{62}\\.json${TEMPORARY}$`),
  new RegExp(`^state/[^/]+\\.(log|no-op|live|seal|json)${TEMPORARY}$`),
  new RegExp(`^(logs/[^/]+|history)/[^/]+\\.log${TEMPORARY}$`),
  new RegExp(`^plans/[^/]+\\.json${TEMPORARY}$`),
];

/** Folders that hold files of these patterns. */
const FOLDERS = /^(cas|actions|state|logs|history|plans|action-locks|turns|tmp|(cas|actions)\/[0-9a-f]{2}|logs\/[^/]+)$/;

/** Folders and files that belong to Tanren with all their content. `import-…` and `lock-…` are files. */
const WHOLE = /^(lock|tmp\/[a-z]+-[0-9a-f]{16}|(action-locks|turns)\/[0-9a-f]{64}(\.[0-9a-f]{12})?)$/;

/** Files that systems and other tools put into any folder. They are kept, and not reported. */
const USUAL = ['.DS_Store', 'Thumbs.db', 'desktop.ini', '.gitkeep', 'CACHEDIR.TAG', 'lost+found'];

export function isOwnFile(path: string): boolean {
  return FILES.some(form => form.test(path)) || WHOLE.test(path);
}

/** Foreign paths in the cache folder, relative to it and sorted. A foreign folder stands for all its content. */
export function findForeign(root: string, under = ''): readonly string[] {
  return listEntries(join(root, under)).flatMap(entry => {
    const path = under === '' ? entry.name : `${under}/${entry.name}`;
    if (WHOLE.test(path) || USUAL.includes(entry.name)) return [];
    if (entry.isDirectory() && FOLDERS.test(path)) return findForeign(root, path);
    return !entry.isDirectory() && isOwnFile(path) ? [] : [path];
  });
}

/** Like `findForeign`, for a single folder: names that are neither own files nor own folders. */
export function listForeign(root: string, under = ''): readonly string[] {
  return listEntries(join(root, under)).flatMap(({ name }) => {
    const path = under === '' ? name : `${under}/${name}`;
    return FOLDERS.test(path) || isOwnFile(path) || USUAL.includes(name) ? [] : [path];
  });
}

/** Removes own files and folders under `under`, except `keep`. */
export async function removeOwn(root: string, under: string, keep: readonly string[] = []): Promise<void> {
  // Files behind a symbolic link in the folder may be foreign, or belong to another cache.
  if (under !== '' && lstatSync(join(root, under), { throwIfNoEntry: false })?.isSymbolicLink() === true) return;
  for (const entry of listEntries(join(root, under))) {
    const path = under === '' ? entry.name : `${under}/${entry.name}`;
    if (keep.includes(path)) continue;
    if (WHOLE.test(path)) await withOpenFolders(join(root, path), () => rmSync(join(root, path), { recursive: true, force: true }));
    else if (entry.isDirectory() && FOLDERS.test(path)) {
      await removeOwn(root, path, keep);
      removeEmpty(join(root, path));
    } else if (!entry.isDirectory() && isOwnFile(path)) rmSync(join(root, path), { force: true });
  }
}

/** Keeps a folder that is not empty. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}

/** A missing folder has no entries. */
function listEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
