/** CI ends with what failed: runs of jest write a tally, and its sum names failed tests and steps before the last line. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIST } from '../support/world.js';

const ROOT = join(DIST, '..');
let folder: string;
let tally: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-tally-')));
  tally = join(folder, 'tally.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs jest on one file of tests with the tally reporter. */
function runJest(text: string): void {
  writeFileSync(join(folder, 'some.test.cjs'), text);
  writeFileSync(join(folder, 'jest.config.json'), JSON.stringify({ testMatch: ['**/*.test.cjs'] }));
  const args = [`--config=${folder}/jest.config.json`, `--reporters=${DIST}/test/support/tally-reporter.js`];
  spawnSync(process.execPath, [join(ROOT, 'node_modules/jest/bin/jest.js'), ...args], {
    cwd: folder,
    env: { ...process.env, TANREN_TALLY: tally },
  });
}

function sum(...steps: readonly string[]): { readonly status: number | null; readonly lines: readonly string[] } {
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'scripts/sum-tally.mjs'), tally, ...steps], { encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n') };
}

describe('the end of a CI run', () => {
  it('names each failed test with the first line of its message, and each failed step', () => {
    runJest(`describe('a stage', () => { it('runs', () => {}); it('ends', () => { throw new Error('it hangs\\nfor ever'); }); });`);

    expect(sum('npm test')).toEqual({
      status: 1,
      lines: ['failed step: npm test', 'failed test: some.test.cjs: a stage ends: Error: it hangs', '1 passed, 1 failed'],
    });
  });

  it('names a file of tests that does not run', () => {
    runJest(`throw new Error('no such module');`);

    const { status, lines } = sum('npm test');
    expect(status).toBe(1);
    expect(lines[1]).toMatch(/^failed test: some\.test\.cjs: the file does not run: .*no such module/);
    expect(lines.at(-1)).toBe('0 passed, 1 failed');
  });

  it('sums runs, and prints only the counts if all tests pass', () => {
    runJest(`it('runs', () => {});`);
    writeFileSync(tally, readFileSync(tally, 'utf8').repeat(2));

    expect(sum()).toEqual({ status: 0, lines: ['2 passed, 0 failed'] });
  });

  it('counts a step that fails without a failed test', () => {
    runJest(`it('runs', () => {});`);

    expect(sum('npm run lint')).toEqual({ status: 1, lines: ['failed step: npm run lint', '1 passed, 1 failed'] });
  });

  it('fails if no test ran', () => {
    expect(sum()).toEqual({ status: 1, lines: ['0 passed, 0 failed'] });
  });

  it('prints at most twenty lines of failures', () => {
    const failures = Array.from({ length: 30 }, (_, i) => `test ${i}`);
    writeFileSync(tally, `${JSON.stringify({ passed: 1, failed: 30, skipped: 0, failures })}\n`);

    const { lines } = sum();
    expect(lines).toHaveLength(21);
    expect(lines.slice(-3)).toEqual(['failed test: test 18', 'and 11 more', '1 passed, 30 failed']);
  });
});
