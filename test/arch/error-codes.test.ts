/** Every error code is documented in docs/errors.md, and every documented one exists. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const CODE = '([a-z][a-z0-9]*(?:-[a-z0-9]+)*)';

/** How sources state a code. */
const STATED = [
  new RegExp(`new \\w*Error\\(\\s*'${CODE}'`, 'g'),
  new RegExp(`\\.(?:error|warning)\\(\\s*'${CODE}'`, 'g'),
  new RegExp(`\\bcode: '${CODE}'`, 'g'),
  new RegExp(`['\`]error\\[${CODE}\\]`, 'g'),
];
/** `checkSchema` joins these with what its caller names: "key" for the file, "setting" for a stage. */
const JOINED = ['unknown', 'missing', 'bad'].flatMap(start => ['key', 'setting'].map(noun => `${start}-${noun}`));
/** Codes that the argument parser mints; `formatUsageError` prints them without its prefix. */
const COMMANDER = [
  'excess-arguments',
  'invalid-argument',
  'missing-argument',
  'missing-mandatory-option-value',
  'option-missing-argument',
  'unknown-command',
  'unknown-option',
];

const page = readFileSync(join(PROJECT, 'docs/errors.md'), 'utf8');
const documented = new Set(
  page
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .flatMap(line => [...(line.split('|')[1] ?? '').matchAll(new RegExp(`\`${CODE}\``, 'g'))].map(match => match[1] ?? '')),
);
const sources = ['src', 'stages']
  .flatMap(folder => readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' }).map(name => join(PROJECT, folder, name)))
  .filter(path => path.endsWith('.ts') && !path.includes(join('onnx', 'proto')))
  .map(path => readFileSync(path, 'utf8'));
const stated = new Set(sources.flatMap(text => STATED.flatMap(pattern => [...text.matchAll(pattern)].map(match => match[1] ?? ''))));

describe('docs/errors.md', () => {
  it('has every code that the sources state', () => {
    expect(stated.size).toBeGreaterThan(150);
    expect([...stated, ...JOINED].filter(code => !documented.has(code)).sort()).toEqual([]);
  });

  it('names a next step for every code of an error', () => {
    const rows = page.split('\n').filter(line => /^\| `[a-z]/.test(line));
    expect(rows.length).toBeGreaterThan(150);
    // Tables with two columns list warnings, whose text says what to do.
    const withSteps = rows.map(line => line.split(/(?<!\\)\|/)).filter(cells => cells.length === 5);
    expect(withSteps.length).toBeGreaterThan(150);
    expect(withSteps.filter(([, , , step = '']) => step.trim().length < 4).map(([, code]) => code)).toEqual([]);
  });

  it('has no code that the sources lack', () => {
    const literals = new Set(sources.flatMap(text => [...text.matchAll(new RegExp(`'${CODE}'`, 'g'))].map(match => match[1] ?? '')));
    const known = new Set([...literals, ...stated, ...JOINED, ...COMMANDER]);
    expect([...documented].filter(code => !known.has(code)).sort()).toEqual([]);
  });
});
