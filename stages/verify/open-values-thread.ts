/** A second thread that compares inner values, beside the thread that runs the detectors. */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { openThread } from '../../src/base/thread-client.js';
import type { SampleErrors } from '../../src/quant/compare/compare-values.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { StageError } from '../../src/stage/stage-error.js';
import { resultOf, type ThreadAnswer } from '../../src/stage/thread-call.js';
import type { ValuesOrder } from './values-thread.js';

export interface ValuesThread {
  /** @throws as `ValueComparer.compare`; StageError `thread-ended`. */
  compare(order: ValuesOrder): Promise<SampleErrors>;
  close(): Promise<void>;
}

export function openValuesThread(): ValuesThread {
  const thread = openThread<ValuesOrder, ThreadAnswer>(new URL('./values-thread.js', import.meta.url), {
    endedBy: reason =>
      new StageError('thread-ended', `a thread of the stage ended without a result: ${reason}`, { help: 'free memory, and build again' }),
  });
  return { compare: async order => resultOf<SampleErrors>(await thread.ask(order)), close: thread.terminate };
}

/** Smaller models are compared before a thread has started; of larger ones, the sessions of a second thread take too much memory. */
const [LEAST_BYTES, MOST_BYTES] = [1 << 20, 64 << 20];

/** Whether two threads compare `samples` samples sooner than one. @param reference the models of one side. */
export function isWorthThread(reference: InputPaths[string], samples: number): boolean {
  const paths = typeof reference === 'string' ? [reference] : Object.values(reference ?? {});
  const sizeBytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  return samples > 1 && sizeBytes >= LEAST_BYTES && sizeBytes <= MOST_BYTES && availableParallelism() > 1;
}
