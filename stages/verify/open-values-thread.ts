/** A second thread that compares inner values, beside the thread that runs the detectors. */
import { availableParallelism } from 'node:os';
import { openThread, type ThreadClient } from '../../src/base/thread-client.js';
import type { SampleErrors } from '../../src/quant/compare/compare-values.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { StageError } from '../../src/stage/stage-error.js';
import { resultOf, type ThreadAnswer } from '../../src/stage/thread-call.js';
import { CLAIMED_BEFORE } from './claim.js';
import { sizeOfFiles } from './file-sizes.js';
import type { ValuesOrder } from './values-thread.js';

export interface ValuesThread {
  /** @returns undefined if the other thread claimed the order. @throws as `ValueComparer.compare`; StageError `thread-ended`. */
  compare(order: ValuesOrder): Promise<SampleErrors | undefined>;
  close(): Promise<void>;
}

/** Started ahead by `startSpareThread`, and not used yet. */
let spare: ThreadClient<ValuesOrder, ThreadAnswer> | undefined;

/** Starts the thread of the next `openValuesThread` of this process. */
export function startSpareThread(): void {
  spare ??= startThread();
}

function startThread(): ThreadClient<ValuesOrder, ThreadAnswer> {
  return openThread(new URL('./values-thread.js', import.meta.url), {
    endedBy: reason =>
      new StageError('thread-ended', `a thread of the stage ended without a result: ${reason}`, { help: 'free memory, and build again' }),
  });
}

export function openValuesThread(): ValuesThread {
  // One that has ended meanwhile, as for lack of memory, gives no answers.
  const thread = spare === undefined || spare.isEnded() ? startThread() : spare;
  spare = undefined;
  const compare = async (order: ValuesOrder): Promise<SampleErrors | undefined> => {
    const result = resultOf<SampleErrors | typeof CLAIMED_BEFORE>(await thread.ask(order));
    return result === CLAIMED_BEFORE ? undefined : result;
  };
  return { compare, close: thread.terminate };
}

/** Of both sides. Smaller models are compared before a thread has started; of larger ones, the sessions of a second thread take too much memory. */
const [LEAST_BYTES, MOST_BYTES] = [1 << 20, 128 << 20];

/**
 * Whether two threads compare `samples` samples sooner than one: by the sizes of the models of both sides.
 * Models that cannot be read are none; who opens them says so.
 * @param cores those that the process may use.
 */
export function isWorthThread({ reference, candidate }: InputPaths, samples: number, cores = availableParallelism()): boolean {
  if (samples <= 1 || cores <= 1) return false;
  const paths = [reference, candidate].flatMap(side => (typeof side === 'string' ? [side] : Object.values(side ?? {})));
  const sizeBytes = sizeOfFiles(paths);
  return sizeBytes !== undefined && sizeBytes >= LEAST_BYTES && sizeBytes <= MOST_BYTES;
}
