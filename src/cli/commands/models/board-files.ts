/** The files of a run on a board: those that are named, and those with a known name in folders. Number and sizes are bounded. */
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOrText } from '../../../base/system-error.js';
import { formatBytes } from '../../../base/text/format.js';
import type { BoardFile } from '../../../target/board/read-evidence.js';
import { TargetError } from '../../../target/report/target-error.js';

export interface CollectedFile extends BoardFile {
  readonly modifiedMs: number;
}

const MOST_BYTES = 256 * 1024 * 1024;
const MOST_FILES = 200;
const MOST_ENTRIES = 20_000;
const MOST_DEPTH = 6;

/** Names in the vendor's cache folders, and texts that a run printed. */
const KNOWN = /^(?:vitisai_ep_report|context|fail_safe_summary|aie_unsupported_original_ops(?:_with_reasons)?)\.json$|\.(?:log|txt)$/;

/** @throws TargetError `board-file-unreadable`, `board-file-large`, `board-files-many`. */
export async function collectBoardFiles(paths: readonly string[]): Promise<readonly CollectedFile[]> {
  const found: { readonly path: string; readonly origin: BoardFile['origin'] }[] = [];
  for (const path of paths) {
    const isFolder = (await stat(path).catch(cause => refuse(path, cause))).isDirectory();
    if (isFolder) found.push(...(await listFolder(path)).map(one => ({ path: one, origin: 'found' as const })));
    else found.push({ path, origin: 'named' });
  }
  if (found.length > MOST_FILES)
    throw new TargetError('board-files-many', `${found.length} files have the name of a report or log; at most ${MOST_FILES} are read`, {
      help: 'name the folder of one run',
    });
  const files: CollectedFile[] = [];
  for (const { path, origin } of found) {
    const bytes = await readBounded(path);
    const { mtimeMs } = await stat(path).catch(cause => refuse(path, cause));
    files.push({ name: path, bytes, origin, modifiedMs: mtimeMs });
  }
  return files;
}

/** @throws TargetError `board-file-unreadable`, `board-file-large`. */
export async function readBounded(path: string, helpIfLarge = 'cut the log to one session'): Promise<Uint8Array> {
  const found = await stat(path).catch(cause => refuse(path, cause));
  if (found.isDirectory()) throw new TargetError('board-file-unreadable', `${path} is a folder`, { help: 'name a file in it' });
  const { size } = found;
  if (size > MOST_BYTES)
    throw new TargetError('board-file-large', `${path} has ${formatBytes(size)}; at most ${formatBytes(MOST_BYTES)} are read`, {
      help: helpIfLarge,
    });
  return readFile(path).catch(cause => refuse(path, cause));
}

/** In the order of names, so that equal folders give equal results. Links are not followed. */
async function listFolder(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  const open: { readonly path: string; readonly depth: number }[] = [{ path: folder, depth: 0 }];
  let entries = 0;
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { path, depth } = next;
    const listed: Dirent[] = await readdir(path, { withFileTypes: true }).catch(cause => refuse(path, cause));
    entries += listed.length;
    if (entries > MOST_ENTRIES)
      throw new TargetError('board-files-many', `${folder} has more than ${MOST_ENTRIES} entries`, { help: 'name the folder of one run' });
    for (const entry of listed.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.isDirectory() && depth < MOST_DEPTH) open.push({ path: join(path, entry.name), depth: depth + 1 });
      else if (entry.isFile() && KNOWN.test(entry.name)) found.push(join(path, entry.name));
    }
  }
  return found;
}

function refuse(path: string, cause: unknown): never {
  throw new TargetError('board-file-unreadable', `${path} cannot be read: ${codeOrText(cause)}`, {
    cause,
    help: 'check the path and the permissions of the file',
  });
}
