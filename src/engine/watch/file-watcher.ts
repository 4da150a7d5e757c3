/** How are file events had? From chokidar, as hints only: whoever gets one looks at everything again. */
import { type FSWatcher, watch } from 'chokidar';

export interface FileWatcher {
  /**
   * Watches `paths` and nothing else; missing ones are watched for being made. Resolves when events are sure to come.
   * @returns 'same' where these paths were watched already: what was read before the call may be trusted; after 'changed' it must be read again.
   */
  readonly setPaths: (paths: readonly string[]) => Promise<'same' | 'changed'>;
  readonly close: () => Promise<void>;
}

/** @param onHint called for every event, and for every error of the watcher, since events may have been lost then. */
export function watchFiles(onHint: () => void): FileWatcher {
  let watcher: FSWatcher | undefined;
  let watched = '';
  return {
    async setPaths(paths) {
      const wanted = paths.join('\n');
      if (wanted === watched) return 'same';
      const before = watcher;
      const next = watch([...paths], { ignoreInitial: true, followSymlinks: true });
      watcher = next;
      watched = wanted;
      next.on('all', onHint);
      next.on('error', onHint);
      await new Promise<void>(resolve => next.once('ready', () => resolve()));
      await before?.close();
      return 'changed';
    },
    async close() {
      await watcher?.close();
    },
  };
}
