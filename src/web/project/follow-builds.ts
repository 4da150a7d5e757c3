/** Follows the builds of a pipeline by its journal, whichever process runs them. */
import { statSync } from 'node:fs';
import { followJournal } from '../../engine/insight/live/follow-journal.js';
import type { CacheFolder } from '../../engine/store/cache-folder.js';
import { findLockHolder } from '../../engine/store/lock/lock.js';
import { advanceBuild, type RunningBuild } from './running-build.js';

export interface BuildFollower {
  /** The build as it is now. */
  current(): RunningBuild | undefined;
  /** How often to look. 'never': no page is open. */
  pace(how: 'often' | 'never'): void;
  close(): void;
}

/** The journal grows many times a second in a build, and is small: its stamp is compared as often as a page can show it. */
const LOOK_MS = 60;

/** Without a build, a look is one call of the system. */
const IDLE_MS = 400;

/** A build without news for so long may have been killed: the lock tells. */
const SILENT_MS = 2_000;

export function followBuilds(cache: CacheFolder, pipeline: string, onChange: (build: RunningBuild) => void): BuildFollower {
  const path = cache.journal(pipeline);
  const journal = followJournal(path);
  let build: RunningBuild | undefined;
  let stamp = '';
  let heardMs = Date.now();
  let timer: NodeJS.Timeout | undefined;
  let isOpen = false;

  const tell = (next: RunningBuild): void => {
    build = next;
    onChange(next);
  };
  const look = async (): Promise<void> => {
    const now = stampOf(path);
    if (now !== stamp) {
      stamp = now;
      heardMs = Date.now();
      const { restarted, entries } = journal.read();
      const next = advanceBuild(restarted ? undefined : build, entries);
      if (next !== undefined && next !== build) tell(next);
    } else if (build?.state === 'running' && Date.now() - heardMs > SILENT_MS) {
      heardMs = Date.now();
      if ((await findLockHolder(cache.lock)) === 'free' && stampOf(path) === stamp) tell({ ...build, state: 'broken-off' });
    }
  };
  /** There is one timer, however many looks are under way. */
  const schedule = (): void => {
    clearTimeout(timer);
    if (!isOpen) return;
    timer = setTimeout(() => void look().finally(schedule), build?.state === 'running' ? LOOK_MS : IDLE_MS);
    timer.unref();
  };
  return {
    current() {
      if (!isOpen) void look();
      return build;
    },
    pace(how) {
      isOpen = how === 'often';
      clearTimeout(timer);
      if (isOpen) void look().finally(schedule);
    },
    close() {
      isOpen = false;
      clearTimeout(timer);
    },
  };
}

function stampOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
}
