/** `tanren estimate` and `tanren compare-dumps` as processes: what they print, write and return. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { makeNeck } from '../../support/neck.js';

let world: CliWorld;
let folder = '';
beforeAll(() => {
  world = givenProject({});
  folder = world.folder;
  writeFileSync(join(folder, 'neck.onnx'), encodeModel(makeNeck()));
  // The report of `lint` has the form of that of `compile`.
  writeFileSync(join(folder, 'report.json'), world.run('lint', 'neck.onnx', '--target', 'ryzen-ai', '--json').stdout);
});
afterAll(() => world.remove());

describe('estimate show', () => {
  it('lists layers as estimates, and writes a trace', () => {
    const { exitCode, stdout } = world.run('estimate', 'show', 'report.json', '--all', '--trace', 'trace.json');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^estimate for ryzen-ai stx-krk, xint8, software 1\.8; nothing is measured\n/);
    expect(stdout).toMatch(/^layer +operator +runs on +MACs +bytes +bound by +ms +share$/m);
    expect(stdout).toContain('trace in trace.json');
    const { traceEvents } = JSON.parse(readFileSync(join(folder, 'trace.json'), 'utf8')) as { traceEvents: readonly object[] };
    expect(traceEvents.length).toBeGreaterThan(10);
  });

  it('refuses files that are no report', () => {
    writeFileSync(join(folder, 'other.json'), '{}');
    for (const [path, code] of [
      ['other.json', 'estimate-file'],
      ['none.json', 'board-file-unreadable'],
    ] as const) {
      const { exitCode, stderr } = world.run('estimate', 'show', path);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`error[${code}]`)]);
    }
  });
});

describe('estimate fit', () => {
  it('refuses a report without measurements', () => {
    const { exitCode, stderr } = world.run('estimate', 'fit', 'report.json');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('error[estimate-unmatched]')]);
  });
});

describe('estimate fit of a measurement', () => {
  const formOf = (ms: number) => {
    const latency = { repeats: 1, minMs: ms, meanMs: ms, stdMs: 0, p50Ms: ms, p90Ms: ms, p99Ms: ms };
    const rows = [{ strategy: { kind: 'whole' }, counts: [{ calls: 1, padded: 0, here: latency }], perImageMs: ms }];
    return { form: 'int8', rows, best: 0, bestAt: [0] };
  };
  /** As `runner.py check --json` writes it. */
  const fitWith = (device: { kind: string; name: string }, ms = 4) => {
    const { models } = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as { models: readonly { name: string }[] };
    const parts = models.map(({ name }) => ({ part: name, fed: 'golden', counts: [], imagesWithout: 0, forms: [formOf(ms)] }));
    const where = { runner: 'bundle', identity: { device: { ...device, driver: '1' } } };
    writeFileSync(join(folder, 'measured.json'), JSON.stringify({ format: 'tanren-bench/1', where, warmup: 0, repeats: 1, parts }));
    return world.run('estimate', 'fit', 'report.json', 'measured.json');
  };

  it.each([
    [{ kind: 'npu', name: 'stx-krk' }, 0, ''],
    [{ kind: 'npu', name: 'a name of its own' }, 0, ''],
    [{ kind: 'npu', name: 'phx-hpt' }, 2, 'was measured on phx-hpt; the models were compiled for stx-krk'],
    [{ kind: 'cpu', name: 'cpu' }, 2, 'was measured on a CPU'],
  ])('of %j ends with exit code %d', (device, code, message) => {
    const { exitCode, stderr } = fitWith(device);
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)]);
  });

  it.each([
    [1e6, 'times longer than the estimate'],
    [1e-6, 'times shorter than the estimate'],
  ])('refuses %d ms', (ms, message) => {
    const { exitCode, stderr } = fitWith({ kind: 'npu', name: 'stx-krk' }, ms);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('error[estimate-time]')]);
    expect(stderr).toContain(message);
  });
});

describe('compare-dumps', () => {
  it('refuses a folder without dumps', () => {
    const { exitCode, stderr } = world.run('compare-dumps', 'neck.onnx', '.');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('error[dump-folder]')]);
  });
});
