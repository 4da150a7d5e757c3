/** The recorded actions of stages, as examinations search them. Who examines a project again and again keeps one index: it reads each record once. */
import { join } from 'node:path';
import { type Digest, digestJson } from '../../base/digest.js';
import type { Json, JsonObject } from '../../base/json.js';
import { FORBIDDEN, hasCode } from '../../base/system-error.js';
import { type ActionRecord, readRecord } from './action-records.js';
import type { CacheFolder } from './cache-folder.js';
import { listNames } from './files/list-files.js';
import { statPath } from './files/stamp.js';

export interface RecordedAction {
  /** The action key, by which the record is found. */
  readonly key: string;
  readonly plugin: string;
  /** Of everything but the inputs. */
  readonly selfDigest: Digest;
  readonly inputs: Json | undefined;
  /** Of the artifacts of all results. */
  readonly outputs: readonly Digest[];
}

export interface RecordIndex {
  /** The actions that the cache and its shared cache have an intact and readable record of. Parts of stages are not among them. */
  list(cache: CacheFolder): readonly RecordedAction[];
}

/** Of every action, so that two manifests are compared without their inputs. */
export function digestOfSelf({ inputs: _, ...self }: JsonObject): Digest {
  return digestJson(self);
}

/** Records lie in folders by the start of their keys. */
interface Folder {
  /** '': it has to be listed again. */
  stamp: string;
  readonly actions: Map<string, { readonly stamp: string; readonly action: RecordedAction }>;
  /** A record of a part is never that of a stage, because the key is the digest of its manifest. */
  readonly parts: Set<string>;
}

/** A folder that changed so short before it was listed may change again under the same time stamp: some file systems count in seconds. */
const UNSETTLED_MS = 3_000;

/** @param nowMs milliseconds since 1970. */
export function createRecordIndex(nowMs: () => number = Date.now): RecordIndex {
  const folders = new Map<string, Folder>();
  const listFolder = (cache: CacheFolder, path: string): Iterable<{ readonly action: RecordedAction }> => {
    const known = folders.get(path) ?? { stamp: '', actions: new Map(), parts: new Set<string>() };
    folders.set(path, known);
    const stat = statPath(path);
    if (stat !== undefined && stat.stamp === known.stamp) return known.actions.values();
    const isSettled = stat !== undefined && nowMs() - stat.changedMs > UNSETTLED_MS;
    update(cache, path, known);
    known.stamp = isSettled ? stat.stamp : '';
    return known.actions.values();
  };
  const list = (cache: CacheFolder): readonly RecordedAction[] => {
    const root = join(cache.root, 'actions');
    const own = readable(() => listNames(root))
      .toSorted()
      .flatMap(name => readable(() => [...listFolder(cache, join(root, name))]));
    const shared = cache.shared === undefined ? [] : list(cache.shared);
    return [...own.map(({ action }) => action), ...shared];
  };
  return { list };
}

/** Reads what is new or has changed, and forgets what is gone. */
function update(cache: CacheFolder, path: string, { actions, parts }: Folder): void {
  const names = new Set(listNames(path));
  for (const one of [...actions.keys(), ...parts]) {
    if (names.has(one)) continue;
    actions.delete(one);
    parts.delete(one);
  }
  for (const name of names) {
    if (parts.has(name)) continue;
    const stamp = statPath(join(path, name))?.stamp ?? '';
    if (actions.get(name)?.stamp === stamp) continue;
    actions.delete(name);
    const key = name.replace(/\.json$/, '');
    const record = readRecord(cache, key);
    if (record === undefined || record === 'damaged') continue;
    // Records of parts have no plugin.
    if (record.manifest.plugin === undefined) parts.add(name);
    else actions.set(name, { stamp, action: toAction(key, record) });
  }
}

function toAction(key: string, { manifest, results }: ActionRecord): RecordedAction {
  const outputs = results.flatMap(result => Object.values(result.outputs).map(({ digest }) => digest));
  return { key, plugin: String(manifest.plugin), selfDigest: digestOfSelf(manifest), inputs: manifest.inputs, outputs };
}

/** In the cache of another user, unreadable files count as missing. */
function readable<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch (error) {
    if (hasCode(error, ...FORBIDDEN)) return [];
    throw error;
  }
}
