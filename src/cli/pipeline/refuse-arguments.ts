/** The end of a command whose arguments are wrong. */
import type { Diagnostic } from '../../engine/model/diagnostic.js';
import { EXIT, type ExitCode } from '../process/exit-code.js';
import type { Console } from '../terminal/console.js';
import { encodeDiagnostic, printDiagnostics } from './open-plan.js';

/** Prints the errors. @param found 'after-build': the arguments name something that nothing which was built has. */
export function refuseArguments(
  diagnostics: readonly Diagnostic[],
  { json }: { readonly json: boolean },
  console: Console,
  found: 'before-build' | 'after-build' = 'before-build',
): ExitCode {
  printDiagnostics(diagnostics, new Map(), console, found === 'before-build' ? 'build' : 'read');
  if (json) console.json({ diagnostics: diagnostics.map(encodeDiagnostic) });
  return EXIT.usage;
}
