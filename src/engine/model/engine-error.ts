/** How does the engine itself say that a stage cannot be built? */
import { CodedError } from '../../base/coded-error.js';
import { explainForbidden } from '../../base/file-owner.js';

/** Codes: docs/errors.md, section "engine". */
export class EngineError extends CodedError {
  override readonly name = 'EngineError';
}

/** The system's code of a failed call ("ENOENT"), where `error` has one. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Did a call fail because there is nothing at its path? A link that leads to itself leads to nothing. */
export function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP';
}

/** What went wrong; of a file that another user owns, also whose it is and what to do. A third party's code may throw anything, also what has no text. */
export function messageOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    const owner = explainForbidden(error);
    return owner === undefined ? String(error.message) : `${error.message}; ${owner}`;
  } catch {
    return 'what it throws has no text';
  }
}
