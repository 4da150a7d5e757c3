/** Errors of the engine itself, and the message of any thrown value. */
import { CodedError } from '../../base/coded-error.js';
import { explainForbidden } from '../../base/files/file-owner.js';

/** Codes: docs/errors.md, section "engine". */
export class EngineError extends CodedError {
  override readonly name = 'EngineError';
}

/**
 * Returns the message of anything thrown, since code of third parties may throw any value, even one that has no text.
 * For a file that another user owns, it also names the owner and the next step.
 */
export function messageOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    const owner = explainForbidden(error);
    return owner === undefined ? String(error.message) : `${error.message}; ${owner}`;
  } catch {
    return 'the thrown value has no message';
  }
}
