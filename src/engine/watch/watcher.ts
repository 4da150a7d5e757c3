/** The interface between `watch` and the watchers that detect file changes. */
import type { Hint } from './hints.js';

export interface WatchOrder {
  /** The files of the pipeline, and the sources. */
  readonly inputs: readonly string[];
  /** The artifacts folder. */
  readonly outputs: string;
  readonly projectFolder: string;
}

export interface FileWatcher {
  /**
   * Watches these paths and no others. Call it before each check: from then on every change is reported.
   * @returns 'same' if all of it was watched already: data read before the call is still valid; after 'changed' it must be read again.
   */
  readonly watch: (order: WatchOrder) => 'same' | 'changed';
  readonly close: () => void;
}

export interface WatchListener {
  readonly hint: (kind: Hint) => void;
  /** Called once if the system's events are not available. */
  readonly polls: (why: string) => void;
}
