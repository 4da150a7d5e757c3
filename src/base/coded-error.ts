/** What do all errors that users can cause have in common? A stable code (docs/errors.md), a message and plain details. */
import type { Json } from './json.js';

/**
 * The base of every typed error of the libraries. The message says where, what, actual against expected; `help` the next step.
 * It crosses process borders as plain data: see `encodeError`.
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

/** Is `error` a CodedError, also one of another copy of this module? */
export function isCodedError(error: unknown): error is CodedError {
  return error instanceof Error && 'code' in error && 'details' in error && typeof error.code === 'string';
}
