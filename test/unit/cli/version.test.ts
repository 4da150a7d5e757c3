/** `tanren --version` prints the version in package.json. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { VERSION } from '../../../src/cli/process/version.js';
import { DIST } from '../../support/world.js';

it('VERSION equals the version in package.json', () => {
  const { version } = JSON.parse(readFileSync(join(dirname(DIST), 'package.json'), 'utf8')) as { readonly version: string };
  expect(VERSION).toBe(version);
});
