/** The failures of workers that ended without a result. */
import { constants } from 'node:os';
import { EngineError } from '../../model/engine-error.js';
import type { Failure } from '../../model/failure.js';
import { toFailure } from '../../model/failure.js';

/** @param tail what the worker wrote last. */
export function describeDeath(code: number | null, signal: NodeJS.Signals | null, tail: string): Failure {
  if (/heap out of memory|bad_alloc|out of memory/i.test(tail)) {
    return toFailure(
      new EngineError('worker-memory', 'the worker ran out of memory', {
        help: 'free memory, lower --jobs, or give the stage smaller inputs',
      }),
    );
  }
  // A shell in between, as in the sandbox, reports signals as exit codes.
  if (signal === 'SIGKILL' || code === 128 + constants.signals.SIGKILL) {
    return toFailure(
      new EngineError('worker-died', 'the worker was killed (SIGKILL): most likely the system ran out of memory', {
        details: { signal: 'SIGKILL' },
        help: 'free memory or lower --jobs, and build again',
      }),
    );
  }
  const how = signal === null ? `ended with exit code ${code} and no result` : `crashed (${signal})`;
  return toFailure(
    new EngineError('worker-died', `the worker ${how}`, { details: { code, signal }, help: 'the log has what it wrote last' }),
  );
}
