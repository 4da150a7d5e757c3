/** The module guard in threads: every thread that a plugin starts first loads the guard, with the rule of its worker. */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { getEnvironmentData, setEnvironmentData, type WorkerOptions } from 'node:worker_threads';
import type { GuardData } from './guard-check.js';

const DATA = 'tanren module guard';
const PRELOAD = `--import=${new URL('./thread-main.js', import.meta.url).href}`;

/** From now on, threads that this thread starts are guarded, and those that they start. */
export function guardThreads(data: GuardData): void {
  // Threads get this data, at any depth.
  setEnvironmentData(DATA, data);
  const threads = createRequire(import.meta.url)('node:worker_threads') as typeof import('node:worker_threads');
  threads.Worker = class Worker extends threads.Worker {
    constructor(file: string | URL, options: WorkerOptions = {}) {
      super(file, { ...options, execArgv: [...(options.execArgv ?? []), PRELOAD] });
    }
  };
  syncBuiltinESMExports();
}

/** What `guardThreads` gave to this thread. */
export function guardDataOfThread(): GuardData {
  // Only guarded threads ask for it.
  return getEnvironmentData(DATA) as unknown as GuardData;
}
