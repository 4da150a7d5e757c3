/** The layout of the cache folder. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { ignoreInGit, markCacheFolder } from './cache-marker.js';
import { uniqueName } from './files/unique-name.js';

/** Paths inside one cache folder. These functions do not access the disk. */
export interface CacheFolder {
  readonly root: string;
  /** The folder that this checkout shares with others, if any. */
  readonly shared: CacheFolder | undefined;
  blob(digest: Digest): string;
  record(key: string): string;
  state(pipeline: string): string;
  log(pipeline: string, stage: string): string;
  /** The folder of the partial result of a stage. */
  partial(pipeline: string, stage: string): string;
  /** The log of the builds of a pipeline. */
  history(pipeline: string): string;
  /** The journal of the running or last build of a pipeline. */
  journal(pipeline: string): string;
  /** The rows of a sweep that `tanren ui` started. */
  sweep(pipeline: string, name: string): string;
  /** The edits of the page of `tanren ui` that can be undone. */
  edits(pipeline: string): string;
  /** The token of `tanren ui`. */
  readonly uiAccess: string;
  readonly platform: string;
  readonly lock: string;
  readonly temporary: string;
  /** A new path in the folder for content that is not complete yet. */
  newTemporary(what: string): string;
}

/** @param shared absolute path of an additional cache folder; ignored if it is `root` itself. */
export function cacheFolderAt(root: string, shared?: string | undefined): CacheFolder {
  const temporary = join(root, 'tmp');
  return {
    root,
    shared: shared === undefined || resolve(shared) === resolve(root) ? undefined : cacheFolderAt(shared),
    blob: digest => join(root, 'cas', digest.slice(0, 2), digest),
    record: key => join(root, 'actions', key.slice(0, 2), `${key}.json`),
    state: pipeline => join(root, 'state', `${pipeline.replaceAll('/', '%')}.log`),
    log: (pipeline, stage) => join(root, 'logs', pipeline, `${stage}.log`),
    partial: (pipeline, stage) => join(root, 'partial', pipeline, stage),
    history: pipeline => join(root, 'history', `${pipeline.replaceAll('/', '%')}.log`),
    journal: pipeline => join(root, 'state', `${pipeline.replaceAll('/', '%')}.live`),
    sweep: (pipeline, name) => join(root, 'state', `sweep-${pipeline.replaceAll('/', '%')}.${name}.json`),
    edits: pipeline => join(root, 'state', `edits-${pipeline.replaceAll('/', '%')}.json`),
    uiAccess: join(root, 'state', 'ui-access.json'),
    platform: join(root, 'state', 'platform.json'),
    lock: join(root, 'lock'),
    temporary,
    newTemporary: what => join(temporary, `${what}-${uniqueName(16)}`),
  };
}

/** Creates the folders that a build writes to. The cache holds artifacts, which may be secret, so other users may not read it. */
export function makeCacheFolder(cache: CacheFolder): void {
  for (const folder of ['cas', 'actions', 'state', 'logs', 'history', 'tmp', 'lock'])
    mkdirSync(join(cache.root, folder), { recursive: true, mode: 0o700 });
  markCacheFolder(cache.root);
  ignoreInGit(cache.root);
}
