/** Detects file changes by polling for systems without events: chokidar checks every file of the paths once a second. */
import { join, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import type { FileWatcher, WatchListener } from './watcher.js';

const POLL_MS = 1_000;

/** Folder in artifacts/ that a build itself creates and removes. */
export const STAGING = '.staging';

export function pollPaths({ hint }: Pick<WatchListener, 'hint'>): FileWatcher {
  let watcher: FSWatcher | undefined;
  let watched = '';
  return {
    watch({ inputs, outputs, projectFolder }) {
      const wanted = [projectFolder, outputs, ...inputs].join('\n');
      if (wanted === watched) return 'same';
      watched = wanted;
      void watcher?.close();
      const staging = join(outputs, STAGING);
      watcher = watch([...inputs, outputs], {
        usePolling: true,
        interval: POLL_MS,
        binaryInterval: POLL_MS,
        ignoreInitial: true,
        atomic: false,
        ignored: path => path === staging || path.startsWith(staging + sep),
      });
      watcher.on('all', (_event, path) => hint(path === outputs || path.startsWith(outputs + sep) ? 'output' : 'input'));
      // Changes before the first complete scan have no event. If a path cannot be read, the build reports it.
      for (const event of ['ready', 'error'] as const) watcher.on(event, () => hint('input'));
      return 'changed';
    },
    close: () => void watcher?.close(),
  };
}
