/** How does a command end that something is wrong with? With one message, and with its code. */
import { isCodedError } from '../base/coded-error.js';
import { EXIT, type ExitCode } from './exit-code.js';
import type { Console } from './render/console.js';

/** Says an error that has a code, also as a document with --json; others are thrown on. */
export function endWithError(error: unknown, console: Console, form: { readonly json: boolean }, exitCode: ExitCode): ExitCode {
  if (!isCodedError(error)) throw error;
  const { code, message, help } = error;
  if (form.json) console.json({ diagnostics: [{ severity: 'error', code, message, ...(help === undefined ? {} : { help }) }] });
  console.problem('error', `error[${code}]: ${message}${help === undefined ? '' : `\n  help: ${help}`}`);
  return exitCode === EXIT.built ? EXIT.failed : exitCode;
}
