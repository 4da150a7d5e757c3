/** How are changes noticed where the system tells of none? chokidar looks at every file of the paths, once a second. */
import { join, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import type { FileWatcher, WatchListener } from './watcher.js';

const POLL_MS = 1_000;

/** Names in a folder of artifacts that a build itself makes and removes. */
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
      // What changed before it had looked at everything once has no event; and what it cannot look at the build will tell.
      for (const event of ['ready', 'error'] as const) watcher.on(event, () => hint('input'));
      return 'changed';
    },
    close: () => void watcher?.close(),
  };
}
