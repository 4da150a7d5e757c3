/** Detects file changes by the system's events on folders. Polls every second if the system has no more watches or no events. */
import { type BigIntStats, type FSWatcher, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { codeOrText, hasCode, OPEN_FILES_LIMIT } from '../../base/system-error.js';
import type { Hint } from './hints.js';
import { pollPaths, STAGING } from './poll-paths.js';
import { findWatchPoints, type WatchPoints } from './watch-points.js';
import type { FileWatcher, WatchListener, WatchOrder } from './watcher.js';

/** @param how 'poll' never uses events: some network file systems send none for changes made by other machines. */
export function createFileWatcher(listener: WatchListener, how: 'events' | 'poll'): FileWatcher {
  let watcher = how === 'poll' ? pollPaths(listener) : watchFolders(listener, fallBack);
  let order: WatchOrder | undefined;
  function fallBack(error: unknown): void {
    watcher.close();
    watcher = pollPaths(listener);
    listener.polls(describeTrouble(error));
    listener.hint('input');
    if (order !== undefined) watcher.watch(order);
  }
  return {
    watch(next) {
      order = next;
      return watcher.watch(next);
    },
    close: () => watcher.close(),
  };
}

interface Point {
  readonly watcher: FSWatcher;
  /** Identifies the folder, because another folder may take its name. */
  readonly identity: string;
  names: ReadonlySet<string> | 'all';
}

function watchFolders({ hint }: WatchListener, fallBack: (error: unknown) => void): FileWatcher {
  const points = { input: new Map<string, Point>(), output: new Map<string, Point>() };
  let watched = '';
  // Names were added or removed since the folders were listed.
  let isStale = true;

  const onChange = (kind: Hint, folder: string, type: string, name: string | null): void => {
    const names = points[kind].get(folder)?.names;
    if (names === undefined || name === STAGING || (name !== null && names !== 'all' && !names.has(name))) return;
    if (type === 'rename' || name === null) isStale = true;
    hint(kind);
  };

  const open = (kind: Hint, folder: string, names: Point['names'], identity: string): void => {
    const watcher = watch(folder, { persistent: true }, (type, name) => onChange(kind, folder, type, name));
    watcher.on('error', error => {
      isStale = true;
      if (isLimit(error)) fallBack(error);
      else hint(kind);
    });
    points[kind].set(folder, { watcher, identity, names });
  };

  const turnTo = (kind: Hint, wanted: WatchPoints): boolean => {
    let news = false;
    for (const [folder, point] of points[kind]) {
      if (wanted.has(folder) && identify(folder) === point.identity) continue;
      point.watcher.close();
      points[kind].delete(folder);
    }
    for (const [folder, names] of wanted) {
      const point = points[kind].get(folder);
      if (point !== undefined) {
        news ||= !covers(point.names, names);
        point.names = names;
        continue;
      }
      const identity = identify(folder);
      if (identity === undefined) continue;
      news = true;
      tryOpen(() => open(kind, folder, names, identity));
    }
    return news;
  };

  return {
    watch({ inputs, outputs, projectFolder }) {
      const wanted = [projectFolder, outputs, ...inputs].join('\n');
      if (wanted === watched && !isStale) return 'same';
      watched = wanted;
      isStale = false;
      try {
        turnTo('output', withoutStaging(findWatchPoints({ paths: [outputs], projectFolder }), outputs));
        return turnTo('input', findWatchPoints({ paths: inputs, projectFolder })) ? 'changed' : 'same';
      } catch (error) {
        fallBack(error);
        return 'changed';
      }
    },
    close() {
      for (const point of [...points.input.values(), ...points.output.values()]) point.watcher.close();
      points.input.clear();
      points.output.clear();
    },
  };
}

function covers(before: Point['names'], after: Point['names']): boolean {
  if (before === 'all') return true;
  return after !== 'all' && [...after].every(name => before.has(name));
}

function withoutStaging(points: WatchPoints, outputs: string): WatchPoints {
  const staging = join(outputs, STAGING);
  return new Map([...points].filter(([folder]) => folder !== staging && !folder.startsWith(`${staging}/`)));
}

/** Skips a folder that is missing or unreadable, because the folder above it is watched. @throws if the system has no more watches. */
function tryOpen(open: () => void): void {
  try {
    open();
  } catch (error) {
    if (isLimit(error)) throw error;
  }
}

function identify(folder: string): string | undefined {
  let stats: BigIntStats | undefined;
  try {
    stats = statSync(folder, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
  // Some file systems give the number of a removed folder to the next one at once.
  return stats?.isDirectory() === true ? `${stats.dev}:${stats.ino}:${stats.birthtimeNs}` : undefined;
}

function isLimit(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'ENOSYS', ...OPEN_FILES_LIMIT);
}

function describeTrouble(error: unknown): string {
  if (hasCode(error, 'ENOSPC')) return 'the system has no more watches for files: raise fs.inotify.max_user_watches (sysctl)';
  if (hasCode(error, ...OPEN_FILES_LIMIT))
    return 'the system has no more watchers: raise fs.inotify.max_user_instances (sysctl), or the limit of open files';
  return `the system gives no file events (${codeOrText(error)})`;
}
