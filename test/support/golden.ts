/** Compares a text with its golden file in test/golden. UPDATE_GOLDEN=1 rewrites the files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DIST } from './world.js';

const FOLDER = join(dirname(DIST), 'test/golden');

/** @param name of the file in test/golden. */
export function expectGolden(name: string, text: string): void {
  const path = join(FOLDER, name);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, 'utf8'));
}
