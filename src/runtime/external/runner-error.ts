/** The error class of external runners. */
import { CodedError } from '../../base/coded-error.js';

/** A runner's result is never used after one of these errors. Codes are listed in docs/errors.md. */
export class RunnerError extends CodedError {
  override readonly name = 'RunnerError';
}

/** The same error with the end of the program's standard error in its message, which usually names the cause. */
export function withStandardError(error: CodedError, tail: string): CodedError {
  const stderr = tail.trim();
  const message =
    stderr === '' ? `${error.message}; its standard error is empty` : `${error.message}; its standard error ends with:\n${stderr}`;
  const details = typeof error.details === 'object' && error.details !== null && !Array.isArray(error.details) ? error.details : {};
  return new RunnerError(error.code, message, {
    details: { ...details, stderr },
    cause: error.cause,
    ...(error.help === undefined ? {} : { help: error.help }),
  });
}

/** `error` as a coded error; `runner-died` if it has no code. */
export function asCoded(error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  return new RunnerError('runner-died', `the connection to the runner failed: ${error instanceof Error ? error.message : String(error)}`, {
    cause: error,
  });
}
