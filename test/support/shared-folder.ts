/** The folder of data and oracles that are too large for the project: the one named by TANREN_SHARED, or `shared` beside the project. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The folder, or undefined (said loudly, once per process) where this machine has none: suites that need it then skip. */
export function findSharedFolder(): string | undefined {
  const folder = process.env.TANREN_SHARED ?? resolve(import.meta.dirname, '../../../../shared');
  if (existsSync(join(folder, 'README.md'))) return folder;
  console.warn(`CONFORMANCE SKIPPED: there is no folder ${folder}; set TANREN_SHARED`);
  return undefined;
}
