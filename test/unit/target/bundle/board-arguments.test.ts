/** Wrong arguments of the bundle's programs end with one line that names them, before anything runs. */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../support/run-stage.js';
import { type SmallBundle, writeSmallBundle } from '../../../support/small-bundle.js';
import { describeWithPython, runRunner, stubEnvironment } from '../../../support/stub-onnxruntime.js';

const folder = await temporaryFolder('board-arguments');
afterAll(folder.remove);

let bundle: SmallBundle;
beforeAll(async () => {
  bundle = await writeSmallBundle(folder.path);
});

const run = (args: readonly string[], on = bundle) => runRunner(on, args, stubEnvironment(bundle));

describeWithPython('runner.py', () => {
  it.each([
    ['--repeats', '-1', 'a whole number from 0 on'],
    ['--warm-up', 'many', 'a whole number from 0 on'],
    ['--threads', '-2', 'a whole number from 0 on'],
    ['--samples', '0', 'a whole number from 1 on'],
    ['--timeout', '0', 'a number of seconds above 0'],
    ['--min-sqnr', 'nan', 'a number'],
  ])('refuses %s %s', (option, value, expected) => {
    const { exitCode, stderr } = run(['check', option, value]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`argument ${option}: '${value}' is not ${expected}`)]);
  });

  it('refuses files that its command does not take', () => {
    expect(run(['check', 'extra'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('check takes no files: extra') });
  });

  it('refuses a file for the measurement that cannot be written, before it measures', () => {
    const { exitCode, stdout, stderr } = run(['check', '--json', join(folder.path, 'missing/measured.json')]);
    expect([exitCode, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/^error\[cannot-write\]: \S+measured\.json cannot be written/),
    ]);
  });

  it('refuses files that are no reports', () => {
    const predicted = bundle.path('report/net.predicted.json');
    const wrong = join(folder.path, 'wrong.json');
    writeFileSync(wrong, 'not json');
    for (const [path, message] of [
      [join(folder.path, 'nothing.json'), 'cannot be read as JSON'],
      [wrong, 'cannot be read as JSON'],
      [bundle.path('manifest.json'), 'has no list nodeStat'],
    ] as const) {
      const { exitCode, stderr } = run(['diff-report', predicted, path]);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`error[bad-report]: ${path} ${message}`)]);
    }
  });

  it('checks no bundle without its manifest, and none with a damaged one', () => {
    const to = join(folder.path, 'copy');
    const copy: SmallBundle = { ...bundle, folder: to, path: name => join(to, name) };
    cpSync(bundle.folder, copy.folder, { recursive: true });
    writeFileSync(join(copy.folder, 'manifest.json'), '{');
    const check = ['check', '--provider', 'CPUExecutionProvider'];
    expect(run(check, copy)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('error[bundle-damaged]: manifest.json of the bundle is not JSON'),
    });
    rmSync(join(copy.folder, 'manifest.json'));
    expect(run(check, copy)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('error[no-bundle]: ') });
  });
});
