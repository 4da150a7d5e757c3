/** What does `watch` ask of whatever notices changes, and what is it told? */
import type { Hint } from './hints.js';

export interface WatchOrder {
  /** The pipeline's files and sources. */
  readonly inputs: readonly string[];
  /** The folder of artifacts. */
  readonly outputs: string;
  readonly projectFolder: string;
}

export interface FileWatcher {
  /**
   * Watches these and nothing else. To be called before each look: from here on events are sure to come.
   * @returns 'same' where all of it was watched already: what was read before the call may be trusted; after 'changed' it must be read again.
   */
  readonly watch: (order: WatchOrder) => 'same' | 'changed';
  readonly close: () => void;
}

export interface WatchListener {
  readonly hint: (kind: Hint) => void;
  /** Told once where the system's events are not to be had. */
  readonly polls: (why: string) => void;
}
