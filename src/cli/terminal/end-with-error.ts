/** Ends a command that failed with a coded error: one message and one exit code. */
import { isCodedError } from '../../base/coded-error.js';
import { EXIT, type ExitCode } from '../process/exit-code.js';
import type { Console } from './console.js';

/** Prints an error that has a code, with --json also as a document. Other errors are rethrown. */
export function endWithError(error: unknown, console: Console, form: { readonly json: boolean }, exitCode: ExitCode): ExitCode {
  if (!isCodedError(error)) throw error;
  const { code, message, help } = error;
  if (form.json) console.json({ diagnostics: [{ severity: 'error', code, message, ...(help === undefined ? {} : { help }) }] });
  console.problem('error', `error[${code}]: ${message}${help === undefined ? '' : `\n  help: ${help}`}`);
  return exitCode === EXIT.built ? EXIT.failed : exitCode;
}
