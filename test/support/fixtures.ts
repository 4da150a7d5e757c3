/** The paths of fixtures: under test/fixtures of the sources, also when the tests run compiled. */
import { join, resolve } from 'node:path';

export function fixturePath(...parts: readonly string[]): string {
  return join(resolve(import.meta.dirname, '../../../test/fixtures'), ...parts);
}
