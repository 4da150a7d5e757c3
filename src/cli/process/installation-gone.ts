/** Errors of a process whose installation was rebuilt, updated or removed while it ran: code that it loads late is gone. */
import { hasCode } from '../../base/system-error.js';

/** Whether a module file does not exist that other code imports by its path. A package that is not installed is another error. */
export function isInstallationGone(error: unknown): boolean {
  return hasCode(error, 'ERR_MODULE_NOT_FOUND') && error instanceof Error && 'url' in error && String(error.url).startsWith('file:');
}
