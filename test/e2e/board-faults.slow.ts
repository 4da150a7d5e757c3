/** runner.py with the real onnxruntime and a provider that fails as recorded boards did: every fault is found and named. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describeWithOnnxRuntime, type ProgramResult, runProgram } from '../support/board-python.js';
import { smallQdqModel } from '../support/qdq-model.js';
import { temporaryFolder } from '../support/run-stage.js';
import { PROJECT } from '../support/shapes-project.js';
import { type SmallBundle, writeSmallBundle } from '../support/small-bundle.js';

const folder = await temporaryFolder('board-faults');
afterAll(folder.remove);

let bundle: SmallBundle;
beforeAll(async () => {
  bundle = await writeSmallBundle(folder.path, { names: ['first', 'second'] });
});

const FAKE = join(PROJECT, 'test/fixtures/fake-provider');

function check(
  fault: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
  on = bundle,
): ProgramResult {
  const cache = mkdtempSync(join(folder.path, 'cache-'));
  const fixed = ['check', '--cache-dir', cache, '--driver', '1', '--repeats', '4', '--warm-up', '1', '--timeout', '60'];
  return runProgram(on.folder, 'runner.py', [...fixed, ...args], { PYTHONPATH: FAKE, FAKE_PROVIDER: fault, ...environment });
}

/** A folder with a tool `xrt-smi` that prints what the NPU named `name` prints. */
function withXrtSmi(name: string): Record<string, string> {
  const tools = mkdtempSync(join(folder.path, 'tools-'));
  const host = `NPU Firmware Version : 1.0.0.166\nNPU Driver Version : 32.0.203.376\nDevice(s) Present\n|[0000:c5:00.1]  |${name}  |`;
  const platform = `Platform\n  Name                   : ${name}\n  Power Mode             : performance`;
  const path = join(tools, 'xrt-smi');
  writeFileSync(path, `#!/bin/sh\nif [ "$2" = -r ]; then cat <<END\n${platform}\nEND\nelse cat <<END\n${host}\nEND\nfi\n`);
  chmodSync(path, 0o755);
  return { PATH: `${tools}${delimiter}${process.env.PATH ?? ''}` };
}

describeWithOnnxRuntime('runner.py check with a provider that works', () => {
  it('compares, places and times every model, and writes the measurement', () => {
    const json = join(folder.path, 'measured.json');
    const { exitCode, stdout, stderr } = check('none', ['--json', json], withXrtSmi('NPU Strix'));
    expect([exitCode, stderr.match(/error/g)]).toEqual([0, null]);
    for (const name of ['first', 'second']) {
      expect(stdout).toMatch(new RegExp(`^${name}: y: largest difference [\\d.e-]+, SQNR [\\d.]+ dB$`, 'm'));
      expect(stdout).toContain(`${name}: 10 nodes on the NPU (VitisAIExecutionProvider), 2 nodes on the CPU (CPUExecutionProvider)`);
      expect(stdout).toMatch(new RegExp(`^${name}: p50 [\\d.]+ ms, p90 [\\d.]+ ms, p99 [\\d.]+ ms of 4 runs$`, 'm'));
    }
    const report = JSON.parse(readFileSync(json, 'utf8'));
    expect(report).toMatchObject({
      format: 'tanren-bench/1',
      where: {
        runner: 'bundle',
        threads: 1,
        identity: { device: { kind: 'npu', name: 'stx-krk' }, versions: { firmware: '1.0.0.166' } },
        machine: { driver: '32.0.203.376', npuPowerMode: 'performance' },
      },
      warmup: 1,
      repeats: 4,
      parts: [{ part: 'first', forms: [{ form: 'int8', rows: [{ counts: [{ here: { repeats: 4 } }] }] }] }, { part: 'second' }],
    });
  });

  it('runs a model that the pipeline places on the CPU there, beside others on the device', async () => {
    const mixed = await writeSmallBundle(folder.path, { names: ['first', 'second'], onCpu: ['second'] });
    const json = join(folder.path, 'mixed.json');
    const { exitCode, stdout, stderr } = check('none', ['--json', json], {}, mixed);
    expect([exitCode, stderr.match(/error/g)]).toEqual([0, null]);
    expect(stdout).toContain('first: 10 nodes on the NPU (VitisAIExecutionProvider), 2 nodes on the CPU (CPUExecutionProvider)');
    expect(stdout).toContain('second: 11 nodes on the CPU (CPUExecutionProvider)');
    const { parts } = JSON.parse(readFileSync(json, 'utf8'));
    expect(parts).toMatchObject([
      { part: 'first' },
      { part: 'second', forms: [{ form: 'int8', placement: [{ device: 'cpu', nodes: 11 }] }] },
    ]);
    expect(check('cpu-fallback', [], {}, mixed).stderr).toContain('error[fell-back]: first: no node ran on the NPU');
  });

  it('reports facts without a tool as unknown', () => {
    const json = join(folder.path, 'unknown.json');
    expect(check('none', ['--json', json]).exitCode).toBe(0);
    const { machine } = JSON.parse(readFileSync(json, 'utf8')).where;
    expect(machine).toMatchObject({ driver: 'unknown', firmware: 'unknown', npuPowerMode: 'unknown' });
  });

  it('gives options of a file, and of an edited file of the bundle, a cache key of their own', async () => {
    const own = await writeSmallBundle(folder.path);
    const options = join(folder.path, 'options.json');
    writeFileSync(options, JSON.stringify({ opt_level: '1' }));
    const keyOf = (args: readonly string[]): string => {
      const cache = mkdtempSync(join(folder.path, 'keys-'));
      expect(check('none', ['--cache-dir', cache, ...args], {}, own).exitCode).toBe(0);
      return readdirSync(cache).sort().join(' ');
    };
    const plain = keyOf([]);
    expect(keyOf([])).toBe(plain);
    const added = keyOf(['--provider-options', options]);
    expect(added).not.toBe(plain);
    const row = own.path('ryzenai/1.8/stx-krk.json');
    const edited = JSON.parse(readFileSync(row, 'utf8'));
    writeFileSync(row, JSON.stringify({ ...edited, providerOptions: { ...edited.providerOptions, opt_level: '2' } }));
    const changed = keyOf([]);
    expect(new Set([plain, added, changed]).size).toBe(3);
    writeFileSync(options, '["opt_level"]');
    expect(check('none', ['--provider-options', options], {}, own).stderr).toContain('error[bad-options]');
  });
});

describeWithOnnxRuntime('runner.py check names', () => {
  it.each([
    ['unwritten-tile', 'error[unwritten-tile]: first: output y: rows 2 to 3, columns 2 to 3 of slot 0'],
    [
      'nan-second-session',
      'error[second-session]: beside the sessions of the other models, outputs are wrong that are right alone: first: output y has 32 elements that are no finite number',
    ],
    ['cpu-fallback', 'error[fell-back]: first: no node ran on the NPU'],
    ['not-taken', 'error[fell-back]: VitisAIExecutionProvider did not accept the model'],
    ['missing-xclbin', 'error[no-xclbin]: the software has no xclbin file for this device'],
    ['wrong-device', 'error[wrong-device]: the model was compiled for another device'],
    ['crash', 'error[session-crashed]: model:first: the process of the execution provider ended with code -6'],
  ])('the fault %s', (fault, message) => {
    const { exitCode, stderr } = check(fault);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(1);
  });

  it('a slot that is not written', async () => {
    const pair = await writeSmallBundle(folder.path, { model: smallQdqModel(undefined, undefined, 2), choice: { dtype: 'a8w8' } });
    const { exitCode, stderr } = check('unwritten-slot', [], {}, pair);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('error[unwritten-slot]: net: output y: slot 1 of 2')]);
  });

  it('a compiled model that was made from another one', async () => {
    const other = await writeSmallBundle(folder.path, { model: smallQdqModel(undefined, 0.5) });
    const { exitCode, stderr } = check('stale-cache', [], { FAKE_MODEL: other.path('models/net/whole.onnx') });
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/error\[stale-cache\]: the compiled model in .* was made from .*net\/whole\.onnx/),
    ]);
  });

  it('another device than that of the options', () => {
    const machine = withXrtSmi('NPU Phoenix');
    const { exitCode, stderr } = check('none', [], machine);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining('error[wrong-device]: this machine has phx-hpt, but the options are for stx-krk'),
    ]);
    expect(check('none', ['--any-device'], machine).exitCode).toBe(0);
  });

  it('a compiler that hangs', () => {
    const { exitCode, stderr } = check('hang', ['--timeout', '3']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('error[compile-timeout]: model:first did not end within 3 s')]);
  });

  it('a bundle whose manifest names files outside of it', async () => {
    const own = await writeSmallBundle(folder.path);
    const path = own.path('manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...manifest, files: { ...manifest.files, '../in.onnx': '0' } }));
    expect(check('none', [], {}, own).stderr).toContain(
      "error[bundle-damaged]: the manifest names '../in.onnx', which is outside of the bundle",
    );
  });
});
