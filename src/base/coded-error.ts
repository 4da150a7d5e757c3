/** The base class of all errors that users can cause, with a stable code (docs/errors.md), a message and plain details. */
import type { Json } from './json.js';

/**
 * The base class of all typed errors of the libraries. The message states where, what was found and what was expected; `help` is the next step.
 * Errors are passed between processes as plain data: see `encodeError`.
 */
export class CodedError extends Error {
  override readonly name: string = 'CodedError';
  readonly code: string;
  readonly details: Json;
  readonly help: string | undefined;

  constructor(code: string, message: string, options: { details?: Json; help?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? null;
    this.help = options.help;
  }
}

/** Whether `error` is a CodedError, including one from another copy of this module. */
export function isCodedError(error: unknown): error is CodedError {
  return error instanceof Error && 'code' in error && 'details' in error && typeof error.code === 'string';
}
