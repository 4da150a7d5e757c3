/** Follows the builds of a pipeline by its journal, whichever process runs them. */
import { statSync } from 'node:fs';
import { followJournal } from '../../engine/insight/live/follow-journal.js';
import type { CacheFolder } from '../../engine/store/cache-folder.js';
import { findLockHolder } from '../../engine/store/lock/lock.js';
import { openFileEvents } from './file-events.js';
import { advanceBuild, type RunningBuild } from './running-build.js';

export interface BuildFollower {
  /** The build as it is now. */
  current(): RunningBuild | undefined;
  /** How often to look. 'never': no page is open. */
  pace(how: 'often' | 'never'): void;
  close(): void;
}

/** While a build runs, its journal grows many times a second: progress is told as often as a page can show it. */
const LOOK_MS = 60;

/** From an event of the file to the look at it, at least, as entries come in groups; and between two looks. What a stage has done is told at once. */
const [EVENT_MS, APART_MS] = [10, 20];

/** Between two looks without a build: where the system tells of changes, and where it does not, as on some network file systems. */
const [WATCHED_IDLE_MS, IDLE_MS] = [3_000, 400];

/** A build without news for so long may have been killed: the lock tells. */
const SILENT_MS = 2_000;

/** @param onDefect gets what prevents a look, such as a journal that this user may not read; the next look tries again. */
export function followBuilds(
  cache: CacheFolder,
  pipeline: string,
  onChange: (build: RunningBuild) => void,
  onDefect: (error: unknown) => void,
): BuildFollower {
  const path = cache.journal(pipeline);
  const journal = followJournal(path);
  let build: RunningBuild | undefined;
  let told: RunningBuild | undefined;
  let toldMs = 0;
  /** 'now': there is other news than progress. */
  let due: 'now' | 'soon' = 'soon';
  let stamp = '';
  let heardMs = Date.now();
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  let isOpen = false;
  let isWatched = false;
  let lookedMs = 0;
  const events = openFileEvents(path, () => {
    soon ??= setTimeout(
      () => {
        soon = undefined;
        lookAndSchedule();
      },
      Math.max(EVENT_MS, APART_MS - (Date.now() - lookedMs)),
    ).unref();
  });

  const tell = (): void => {
    if (build === undefined || build === told) return;
    if (due === 'soon' && Date.now() - toldMs < LOOK_MS) return;
    [told, toldMs, due] = [build, Date.now(), 'soon'];
    onChange(build);
  };
  const look = async (): Promise<void> => {
    const now = stampOf(path);
    if (now !== stamp) {
      stamp = now;
      heardMs = Date.now();
      const { restarted, entries } = journal.read();
      build = advanceBuild(restarted ? undefined : build, entries) ?? build;
      if (entries.some(({ kind }) => kind !== 'progress')) due = 'now';
    } else if (build?.state === 'running' && Date.now() - heardMs > SILENT_MS) {
      heardMs = Date.now();
      const silent = build;
      // An event may have another look read the conclusion before the lock has answered.
      if ((await findLockHolder(cache.lock)) === 'free' && build === silent && stampOf(path) === stamp)
        [build, due] = [{ ...silent, state: 'broken-off' }, 'now'];
    }
    tell();
  };
  /** There is one timer, however many looks are under way. */
  const schedule = (): void => {
    clearTimeout(timer);
    if (!isOpen) return;
    const idleMs = isWatched ? WATCHED_IDLE_MS : IDLE_MS;
    timer = setTimeout(lookAndSchedule, build?.state === 'running' ? LOOK_MS : idleMs).unref();
  };
  const lookAndSchedule = (): void => {
    // What is written after the look has an event.
    if (isOpen) isWatched = events.renew();
    lookedMs = Date.now();
    look().catch(onDefect).finally(schedule);
  };
  const stop = (): void => {
    isOpen = false;
    clearTimeout(timer);
    clearTimeout(soon);
    soon = undefined;
    events.close();
  };
  return {
    current() {
      if (!isOpen) look().catch(onDefect);
      return build;
    },
    pace(how) {
      if (how === 'never') return stop();
      isOpen = true;
      lookAndSchedule();
    },
    close: stop,
  };
}

function stampOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
}
