/**
 * Prints the last lines of a CI run: the failed tests and steps, and the line `N passed, N failed`. Usage: sum-tally.mjs TALLY [FAILED_STEP…]
 * TALLY holds one row of JSON per jest run, as test/support/tally-reporter.ts writes them.
 */
import { existsSync, readFileSync } from 'node:fs';

const MOST_LINES = 20;
const MOST_CHARACTERS = 240;

const [tally = '', ...steps] = process.argv.slice(2);
const text = existsSync(tally) ? readFileSync(tally, 'utf8') : '';
const rows = text
  .split('\n')
  .filter(Boolean)
  .map(line => JSON.parse(line));
const sum = key => rows.reduce((total, row) => total + row[key], 0);
const passed = sum('passed');
// A step can fail without a failed test, and a failed test fails its step.
const failed = Math.max(sum('failed'), steps.length);

const lines = [
  ...steps.map(step => `failed step: ${step}`),
  ...rows.flatMap(row => row.failures.map(failure => `failed test: ${failure}`)),
];
const shown = lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES - 1), `and ${lines.length - MOST_LINES + 1} more`] : lines;
for (const line of shown) console.log(line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS - 1)}…` : line);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
