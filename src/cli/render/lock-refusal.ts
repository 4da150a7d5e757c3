/** What if the lock file cannot be used, or does not lock what stands here? It is said as what is wrong with the pipeline file is. */
import { encodeDiagnostic, printDiagnostics } from '../open-plan.js';
import type { Console } from './console.js';

/** What `work` gives, or undefined after its refusal has been said: as a JSON document too with `json`. */
export async function unlessRefused<T>(work: Promise<T>, console: Console, { json }: { readonly json: boolean }): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const { LockRefused } = await import('../../engine/lockfile/lock-refused.js');
    if (!(error instanceof LockRefused)) throw error;
    printDiagnostics(error.diagnostics, error.sources, console);
    if (json) console.json({ diagnostics: error.diagnostics.map(encodeDiagnostic) });
    return undefined;
  }
}
