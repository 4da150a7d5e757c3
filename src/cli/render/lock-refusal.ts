/** Reports a lock file that cannot be used or does not match, in the same form as errors of the pipeline file. */
import type { Diagnostic } from '../../engine/model/diagnostic.js';
import { encodeDiagnostic, printDiagnostics } from '../pipeline/open-plan.js';
import type { Console } from '../terminal/console.js';

/** The result of `work`; undefined after the refusal is printed, with `json` also as a JSON document. @param onRefused receives it then. */
export async function unlessRefused<T>(
  work: Promise<T>,
  console: Console,
  { json }: { readonly json: boolean },
  onRefused: (diagnostics: readonly Diagnostic[]) => void = () => undefined,
): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const { LockRefused } = await import('../../engine/lockfile/lock-refused.js');
    if (!(error instanceof LockRefused)) throw error;
    printDiagnostics(error.diagnostics, error.sources, console);
    if (json) console.json({ diagnostics: error.diagnostics.map(encodeDiagnostic) });
    onRefused(error.diagnostics);
    return undefined;
  }
}
