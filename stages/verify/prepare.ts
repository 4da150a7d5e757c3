/** What a worker of `verify` may do before it knows its action. */
import { startSpareThread } from './open-values-thread.js';

/** Loads what most runs load, and starts the thread that those with `values: all` use; where none does, it ends with the process. */
export async function prepare(): Promise<void> {
  startSpareThread();
  await import('./run.js');
}
