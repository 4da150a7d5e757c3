/** Trials of fixes, computed in a process that ends after each answer, and kept by the content of the model. */
import { join } from 'node:path';
import type { Advice } from '../../target/advice/advice.js';
import { openProcessQueue, type ProcessLimit } from './one-process.js';
import type { TrialOrder } from './trial-view.js';

export interface TrialReader {
  /** @param key equal keys mean equal trials. @returns 'left' if `left` was aborted first. @throws as `ProcessQueue.read`. */
  read(order: TrialOrder, key: string, left: AbortSignal): Promise<Advice | 'left'>;
  close(): void;
}

const MOST_KEPT = 16;

/** A trial compiles a copy of the model for every step. */
const LIMIT: ProcessLimit = {
  longestMs: 300_000,
  help: 'run "tanren lint MODEL --target TARGET", which tries the same fixes without a limit',
};

export function openTrialReader(installRoot: string): TrialReader {
  const module = join(installRoot, 'src/web/model/trial-process.js');
  const queue = openProcessQueue<TrialOrder, Advice>(module, { what: 'the trial', many: 'trials' }, LIMIT);
  const kept = new Map<string, Advice>();
  return {
    async read(order, key, left) {
      const known = kept.get(key);
      if (known !== undefined) return known;
      const advice = await queue.read(order, left);
      if (advice === 'left') return advice;
      const oldest = kept.keys().next().value;
      if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      kept.set(key, advice);
      return advice;
    },
    close: queue.close,
  };
}
