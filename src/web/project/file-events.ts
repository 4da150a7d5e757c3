/** Events of one file that is replaced and appended to: they say when to look at it. */
import { type FSWatcher, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

export interface FileEvents {
  /** Watches the folder that is there now. @returns false if the system gives no events, or the folder is missing. */
  renew(): boolean;
  close(): void;
}

export function openFileEvents(path: string, onEvent: () => void): FileEvents {
  const [folder, name] = [dirname(path), basename(path)];
  let opened: { readonly watcher: FSWatcher; readonly identity: string } | undefined;
  const close = (): void => {
    opened?.watcher.close();
    opened = undefined;
  };
  return {
    renew() {
      const identity = identityOf(folder);
      if (identity === undefined) close();
      else if (identity !== opened?.identity) {
        close();
        const watcher = tryWatch(folder, changed => {
          if (changed === null || changed === name) onEvent();
        });
        watcher?.on('error', close);
        opened = watcher === undefined ? undefined : { watcher, identity };
      }
      return opened !== undefined;
    },
    close,
  };
}

/** undefined where the system has no more watches, or no events: then the file is looked at more often. */
function tryWatch(folder: string, onEvent: (name: string | null) => void): FSWatcher | undefined {
  try {
    return watch(folder, { persistent: false }, (_, name) => onEvent(name));
  } catch {
    return undefined;
  }
}

/** Some file systems give the number of a removed folder to the next one at once. */
function identityOf(folder: string): string | undefined {
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev} ${stats.ino} ${stats.birthtimeNs}`;
}
