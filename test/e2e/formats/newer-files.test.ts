/** What a newer Tanren left behind is left out with one line, in nobody's way, and nothing of it is lost that cannot be made again. */
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { digestBytes } from '../../../src/base/digest.js';
import type { CliResult, CliWorld } from '../../support/cli-world.js';
import { givenOldProject, OLD_ARCHIVE } from '../../support/old-project.js';

let world: CliWorld;
beforeEach(() => {
  world = givenOldProject();
});
afterEach(() => world.remove());

const problemsOf = ({ stdout, stderr }: CliResult): readonly string[] =>
  [...`${stdout}\n${stderr}`.matchAll(/(?:warning|error)\[([^\]]+)\]/g)].map(match => match[1] ?? '');

const edit = (name: string, from: RegExp, to: string): string => {
  const before = world.read(name);
  expect(before).toMatch(from);
  world.write(name, before.replace(from, to));
  return world.read(name);
};

const change = (): void => appendFileSync(join(world.folder, 'notes.txt'), 'while it is hot\n');

describe('files of a newer version', () => {
  it('the state: one warning, and results come from the records', () => {
    world.run('build');
    edit('cache/state/pipeline.log', /^tanren-state \d+/, 'tanren-state 999');
    const built = world.run('build', '--json');
    expect([built.exitCode, problemsOf(built)]).toEqual([0, ['state-damaged']]);
    expect(built.stdout).not.toContain('"executed"');
    expect(problemsOf(world.run('build'))).toEqual([]);
  });

  it('the history: one warning per build, and the file is unchanged', () => {
    const log = edit('cache/history/pipeline.log', /^tanren-history \d+/, 'tanren-history 999');
    change();
    const built = world.run('build');
    expect([built.exitCode, problemsOf(built)]).toEqual([0, ['history-newer']]);
    expect(world.read('cache/history/pipeline.log')).toBe(log);
    const listed = world.run('history');
    expect([listed.exitCode, problemsOf(listed)]).toEqual([0, ['history-damaged']]);
  });

  it('records: one line per stage that would have used one, and the stage runs', () => {
    for (const name of readdirSync(join(world.folder, 'cache/actions'), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.json')) continue;
      const path = join(world.folder, 'cache/actions', name);
      const body = (readFileSync(path, 'utf8').split('\n')[1] ?? '').replace(/^\{"format":\d+/, '{"format":999');
      writeFileSync(path, `${digestBytes(body)}\n${body}\n`);
    }
    rmSync(join(world.folder, 'cache/state/plain.log'));
    const built = world.run('build', '-f', 'pipelines/plain.yaml');
    expect(built.exitCode).toBe(0);
    expect(problemsOf(built).filter(code => code !== 'cache-damaged')).toEqual([]);
    expect(problemsOf(built).length).toBeLessThanOrEqual(1);
    expect(problemsOf(world.run('build', '-f', 'pipelines/plain.yaml'))).toEqual([]);
  });

  it('the no-op record: not used', () => {
    // The project of 0.1 has its record under another name.
    for (let build = 0; build < 2; build++) world.run('build', '-f', 'pipelines/plain.yaml');
    const head = /^tanren-\S+ \d+/.exec(world.read('cache/state/plain.no-op'))?.[0] ?? '';
    world.write('cache/state/plain.no-op', world.read('cache/state/plain.no-op').replace(head, head.replace(/\d+$/, '999')));
    const built = world.run('build', '-f', 'pipelines/plain.yaml');
    expect([built.exitCode, problemsOf(built)]).toEqual([0, []]);
  });

  it.each([['build'], ['build', '--frozen']])('the lock: refused at its line by %s %s', (...args) => {
    const lock = edit('pipeline.lock', /^version: \d+$/m, 'version: 999');
    const built = world.run(...args);
    expect([built.exitCode, problemsOf(built)]).toEqual([2, ['lock-newer']]);
    expect(built.stderr).toMatch(/^pipeline\.lock:2:1: error\[lock-newer\]/m);
    expect(world.read('pipeline.lock')).toBe(lock);
  });

  it('a baseline: a diff that names it fails with an error code', () => {
    const baseline = edit('baselines/first.json', /"format": \d+/, '"format": 999');
    const compared = world.run('diff', 'first');
    expect([compared.exitCode, problemsOf(compared)]).toEqual([2, ['baseline-malformed']]);
    expect(world.read('baselines/first.json')).toBe(baseline);
  });

  it('an archive: refused, and nothing is imported', () => {
    cpSync(OLD_ARCHIVE, join(world.folder, 'results.tanren'));
    const bytes = readFileSync(join(world.folder, 'results.tanren'), 'latin1').replace(/^tanren-archive \d+/, 'tanren-archive 999');
    writeFileSync(join(world.folder, 'results.tanren'), bytes, 'latin1');
    rmSync(join(world.folder, 'cache/cas'), { recursive: true });
    const taken = world.run('cache', 'import', 'results.tanren');
    expect(problemsOf(taken)).toEqual(['archive-version']);
    expect(taken.exitCode).not.toBe(70);
    expect(readdirSync(join(world.folder, 'cache/cas'))).toEqual([]);
  });

  it('the pipeline file: an error at its line', () => {
    edit('pipeline.yaml', /^version: \d+$/m, 'version: 999');
    const built = world.run('build');
    expect(built.exitCode).toBe(2);
    expect(built.stderr).toMatch(/pipeline\.yaml:1:\d+: error\[/);
  });
});

describe('files with a valid checksum and wrong content', () => {
  const bodies = [
    '',
    '{}',
    '[]',
    'null',
    '{',
    `{"format":1,"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    '{"key":1e999,"stages":5}',
  ];

  it.each(bodies.map(body => [body.slice(0, 40), body]))('%s', (_start, body) => {
    const sum = crc32(body).toString(16).padStart(8, '0');
    world.write('cache/state/plain.no-op', `tanren-no-op 3\n${body}\n${body}\n`);
    world.write('cache/plans/plain.json', `${digestBytes(body)}\n${body}`);
    world.write('cache/state/platform.json', body);
    world.write('cache/state/plain.log', `tanren-state 1\n${sum} ${body}\n`);
    world.write('cache/history/plain.log', `tanren-history 1\n${sum} ${body}\n`);
    const built = world.run('build', '-f', 'pipelines/plain.yaml', '--json');
    expect([built.exitCode, built.stderr]).toEqual([0, expect.not.stringContaining('internal error')]);
    const listed = world.run('history', '-f', 'pipelines/plain.yaml');
    expect([listed.exitCode, problemsOf(listed).length]).toEqual([0, expect.anything()]);
  });
});
