/** The message of an error, or its code if it has no message, as errors of several connection attempts have none. */
import { systemCode } from '../system-error.js';

export function messageOfError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === '' ? (systemCode(error) ?? error.name) : error.message;
}
