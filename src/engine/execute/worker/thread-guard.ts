/** The module guard in threads: every thread that a plugin starts first loads the guard, with the rule of its worker. */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { getEnvironmentData, setEnvironmentData, type WorkerOptions } from 'node:worker_threads';
import { InternalError } from '../../../base/invariant.js';
import { readJsonShape } from '../../../base/json/json-shape.js';
import { parseJson } from '../../../base/json.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import type { GuardData } from './guard-check.js';
import { LOAD_RULE } from './load-rule.js';

const RULE = 'tanren load rule';
const REFUSALS = 'tanren refusals';
const PRELOAD = `--import=${new URL('./thread-main.js', import.meta.url).href}`;

/** From now on, threads that this thread starts are guarded, and those that they start. */
export function guardThreads({ rule, refusals }: GuardData): void {
  // Threads get this data, at any depth.
  setEnvironmentData(RULE, JSON.stringify(rule));
  setEnvironmentData(REFUSALS, refusals);
  const threads = createRequire(import.meta.url)('node:worker_threads') as typeof import('node:worker_threads');
  threads.Worker = class Worker extends threads.Worker {
    constructor(file: string | URL, options: WorkerOptions = {}) {
      super(file, { ...options, execArgv: [...(options.execArgv ?? []), PRELOAD] });
    }
  };
  syncBuiltinESMExports();
}

/** What `guardThreads` gave to this thread. @throws InternalError if this is no guarded thread. */
export function guardDataOfThread(): GuardData {
  const refusals = getEnvironmentData(REFUSALS);
  const rule = readJsonShape(readerOf(LOAD_RULE), parseJson(String(getEnvironmentData(RULE))));
  if (rule.kind !== 'ok' || !(refusals instanceof SharedArrayBuffer)) throw new InternalError('a thread has no rule for its modules');
  return { rule: rule.value, refusals };
}
