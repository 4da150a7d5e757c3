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

describe('compare-dumps', () => {
  it('refuses a folder without dumps', () => {
    const { exitCode, stderr } = world.run('compare-dumps', 'neck.onnx', '.');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('error[dump-folder]')]);
  });
});
