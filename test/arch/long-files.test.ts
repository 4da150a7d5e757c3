/** The test files that jest starts first exist. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DIST } from '../support/world.js';

const { LONG_FILES } = createRequire(import.meta.url)(join(DIST, '../scripts/long-files-first.cjs')) as { LONG_FILES: readonly string[] };

it.each(LONG_FILES)('%s, which jest starts among the first, is a test file', name => {
  expect(existsSync(join(DIST, `test/${name}.js`))).toBe(true);
});
