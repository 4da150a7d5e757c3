/** Exports results of a cache to one archive file, and imports them into another cache. Only verified content is imported. */
import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { isSystemCallError } from '../../../base/system-error.js';
import { selectStages } from '../../model/dependencies.js';
import { EngineError, messageOf } from '../../model/engine-error.js';
import type { Plan, StageId } from '../../model/plan.js';
import type { EnginePorts } from '../../model/ports.js';
import { type ActionRecord, readRecord } from '../action-records.js';
import { readBlob } from '../blob-store.js';
import { type CacheFolder, makeCacheFolder } from '../cache-folder.js';
import { removeTemporary } from '../leftovers.js';
import { takeInventory } from '../maintenance/inventory.js';
import { withLock } from '../maintenance/maintain-cache.js';
import { partsOf } from '../part-list.js';
import { openStores } from '../shared-cache.js';
import { loadState } from '../state-log.js';
import type { ArchiveBytes } from './archive-bytes.js';
import { ARCHIVE_HEADER } from './archive-format.js';
import { type TakenArchive, takeArchive } from './take-archive.js';
import { readKnownContent, type WrittenArchive, writeArchive } from './write-archive.js';

/** The part of a cache that goes into an archive. */
export type ExportChoice =
  | { readonly kind: 'everything' }
  /** The accepted results of these stages and of their dependencies. */
  | {
      readonly kind: 'accepted';
      readonly plan: Plan;
      readonly targets: 'all' | readonly StageId[];
      /** The parts used to make the results. They save time if a stage has to run again. */
      readonly parts: 'with parts' | 'without parts';
    };

export interface ExportOrder {
  readonly choice: ExportChoice;
  /** Archives whose content is left out. */
  readonly since: readonly string[];
}

export interface ExportReport extends WrittenArchive {
  /** Stages without an accepted result. */
  readonly unbuilt: readonly StageId[];
}

/** The destination of an archive. A file appears at its path complete or not at all. */
export type ExportTarget =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stream'; readonly stream: NodeJS.WritableStream };

/** Changes nothing in the cache, so builds may run at the same time. @throws EngineError of `writeArchive`, `not-exported`. */
export async function exportCache(
  cache: CacheFolder,
  order: ExportOrder,
  target: ExportTarget,
  signal: AbortSignal,
): Promise<ExportReport> {
  if (target.kind === 'file') assertArchive(target.path);
  const known = await readKnownContent(order.since);
  const source = openStores(cache, 'read', 'links', () => undefined);
  const { keys, unbuilt } = chooseKeys(cache, order.choice);
  const written = await writeTo(target, put =>
    writeArchive({ ...source, read: digest => readBlob(cache, digest) }, keys, known, async chunk => {
      signal.throwIfAborted();
      await put(chunk);
    }),
  );
  return { ...written, unbuilt };
}

/** Refuses a path unless it is free, or holds an older archive or an empty file. @throws EngineError `not-an-archive`. */
function assertArchive(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.isFile() && (found.size === 0 || readHead(path) === ARCHIVE_HEADER.slice(0, 15)))) return;
  throw new EngineError('not-an-archive', `${path} exists, and is not an archive of tanren`, { help: 'name another file, or remove it' });
}

function readHead(path: string): string {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(15);
    return head.toString('utf8', 0, readSync(file, head, 0, 15, 0));
  } finally {
    closeSync(file);
  }
}

function chooseKeys(cache: CacheFolder, choice: ExportChoice): { readonly keys: readonly string[]; readonly unbuilt: readonly StageId[] } {
  if (choice.kind === 'everything') return { keys: takeInventory(cache.shared ?? cache).records.map(({ key }) => key), unbuilt: [] };
  const { stages } = loadState(cache.state(choice.plan.pipeline)).state;
  const selected = selectStages(choice.plan, choice.targets);
  const keys: string[] = selected.flatMap(({ id }) => stages.get(id)?.key ?? []);
  return {
    keys: choice.parts === 'with parts' ? [...keys, ...keys.flatMap(key => findParts(key, cache))] : keys,
    unbuilt: selected.filter(({ id }) => !stages.has(id)).map(({ id }) => id),
  };
}

/** The record of the own cache, or else of the shared one. */
function findRecord(cache: CacheFolder, key: string): ActionRecord | 'damaged' | undefined {
  const own = readRecord(cache, key);
  return typeof own === 'object' || cache.shared === undefined ? own : (readRecord(cache.shared, key) ?? own);
}

/** Keys of the parts whose records still exist. */
function findParts(key: string, cache: CacheFolder): readonly string[] {
  const record = findRecord(cache, key);
  const parts = record === undefined || record === 'damaged' ? [] : partsOf(record, digest => readBlob(cache, digest));
  return parts.filter(part => typeof findRecord(cache, part) === 'object');
}

type Put = (chunk: string | Buffer) => Promise<void>;

async function writeTo<T>(target: ExportTarget, work: (put: Put) => Promise<T>): Promise<T> {
  if (target.kind === 'stream') return work(chunk => writeToStream(target.stream, chunk));
  const temporary = `${target.path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    const result = await writeToFile(file, work);
    await rename(temporary, target.path);
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    if (!isSystemCallError(error)) throw error;
    throw new EngineError('not-exported', `${target.path} cannot be written: ${messageOf(error)}`, {
      help: 'free space, or name a file in a folder that can be written',
      cause: error,
    });
  }
}

/** Artifacts may be secret, so other users may not read the file. */
async function writeToFile<T>(file: FileHandle, work: (put: Put) => Promise<T>): Promise<T> {
  try {
    const result = await work(chunk => file.writeFile(chunk));
    await file.datasync();
    return result;
  } finally {
    await file.close();
  }
}

function writeToStream(stream: NodeJS.WritableStream, chunk: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, error => (error ? reject(error) : resolve()));
  });
}

/** Waits for the lock: a running build finishes first, and new builds wait. @throws EngineError of `readFrames`, `archive-unreadable`. */
export async function importArchive(
  cache: CacheFolder,
  archive: ArchiveBytes,
  ports: Pick<EnginePorts, 'emit' | 'signal'>,
): Promise<TakenArchive> {
  makeCacheFolder(cache);
  return withLock(cache, ports, async lock => {
    // Remains of a killed import.
    if (lock !== undefined) await removeTemporary(cache);
    return takeArchive(cache, archive, ports.signal);
  });
}
