/** Every promise of docs/guarantees.md names tests that exist. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SCENARIOS } from '../scenarios/scenarios.js';
import { findProject } from './import-graph.js';

const project = findProject(dirname(fileURLToPath(import.meta.url)));
const rows = readFileSync(join(project, 'docs/guarantees.md'), 'utf8')
  .split('\n')
  .filter(line => /^\| (?!you can rely on)[^|-]/.test(line))
  .map(line => line.split('|').map(cell => cell.trim()))
  .map(([, promise = '', tests = '']) => ({ promise, paths: pathsIn(tests), numbers: numbersIn(tests) }));
const played = new Set(SCENARIOS.map(({ number }) => number));

function pathsIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(match => match[1] ?? '');
}

function numbersIn(cell: string): readonly number[] {
  return [...cell.matchAll(/scenarios? ([\d, ]+)/g)]
    .flatMap(match => (match[1] ?? '').split(',').filter(text => text.trim() !== ''))
    .map(Number);
}

it('there are promises', () => {
  expect(rows.length).toBeGreaterThan(30);
});

it.each(rows)('$promise', ({ paths, numbers }) => {
  expect(paths.length + numbers.length).toBeGreaterThan(0);
  expect(paths.filter(path => !path.startsWith('test/') || !existsSync(join(project, path)))).toEqual([]);
  expect(numbers.filter(number => !played.has(number))).toEqual([]);
});
