/** A second thread that compares inner values, beside the thread that runs the detectors. */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { openThread } from '../../src/base/thread-client.js';
import type { SampleErrors } from '../../src/quant/compare/compare-values.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { StageError } from '../../src/stage/stage-error.js';
import { resultOf, type ThreadAnswer } from '../../src/stage/thread-call.js';
import { CLAIMED_BEFORE } from './claim.js';
import type { ValuesOrder } from './values-thread.js';

export interface ValuesThread {
  /** @returns undefined if the other thread claimed the order. @throws as `ValueComparer.compare`; StageError `thread-ended`. */
  compare(order: ValuesOrder): Promise<SampleErrors | undefined>;
  close(): Promise<void>;
}

export function openValuesThread(): ValuesThread {
  const thread = openThread<ValuesOrder, ThreadAnswer>(new URL('./values-thread.js', import.meta.url), {
    endedBy: reason =>
      new StageError('thread-ended', `a thread of the stage ended without a result: ${reason}`, { help: 'free memory, and build again' }),
  });
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
  const sizes = paths.map(findSize);
  if (!sizes.every(size => size !== undefined)) return false;
  const sizeBytes = sizes.reduce((sum, size) => sum + size, 0);
  return sizeBytes >= LEAST_BYTES && sizeBytes <= MOST_BYTES;
}

function findSize(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch {
    return undefined;
  }
}
