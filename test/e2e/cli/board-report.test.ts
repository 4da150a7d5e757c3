/** `tanren board-report` for scripts: exit codes, one JSON document, the profile that lint then uses, and clear messages. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { fixturePath } from '../../support/fixtures.js';
import { qdqGraph } from '../../support/qdq-graph.js';

const SCOPE = ['--dtype', 'xint8', '--software', '1.7.1'];

let world: CliWorld;
beforeAll(() => {
  world = givenProject({});
  cpSync(fixturePath('board'), join(world.folder, 'runs'), { recursive: true });
  const graph = qdqGraph();
  graph.input('x', [1, 4, 8, 8]);
  graph.constant('w', [4, 4, 1, 1]);
  graph.unit('Conv', ['x', 'w'], ['a']);
  graph.unit('Mul', ['a', 'a'], ['b']);
  graph.unit('Conv', ['b', 'w'], ['y']);
  graph.output('y');
  writeFileSync(join(world.folder, 'net.onnx'), encodeModel(graph.build()));
});
afterAll(() => world.remove());

/** A copy of the XINT8 report in which the nodes of `opType` ran on `device`. */
function writeReport(name: string, opType: string, device: string): void {
  const report = JSON.parse(world.read('runs/xint8/vitisai_ep_report.json'));
  for (const node of report.nodeStat) if (node.opType === opType) node.device = device;
  world.write(name, JSON.stringify(report));
}

describe('tanren board-report', () => {
  it('prints operators off the NPU with their reasons', () => {
    const { stdout, stderr, exitCode } = world.run('board-report', 'runs/xint8');
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toContain("neck_int8.onnx: 23 nodes on the NPU, 9 on the CPU, 2 on the CPU by the vendor's provider");
    expect(stdout).toMatch(/^Resize +0 +1 +0 {2}doesn't supported by target \[AMD_AIE2_4x4_Overlay\] \(1\)$/m);
  });

  it('prints one JSON document', () => {
    const { stdout } = world.run('board-report', 'runs/vaiml', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ format: 'tanren-board-report/1', counts: { npu: 2, cpu: 2 }, plan: { AIE: 100 } });
  });

  it('ends with 1 if nodes ran elsewhere than predicted', () => {
    writeReport('predicted.json', 'Resize', 'NPU');
    const { stdout, exitCode } = world.run('board-report', 'runs/xint8', '--predicted', 'predicted.json');
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'Resize "/up/Resize_output_0": predicted on the NPU, ran on the CPU (board: doesn\'t supported by target [AMD_AIE2_4x4_Overlay])',
    );
    expect(stdout).toContain('33 of 34 nodes as predicted; 0 only predicted, 0 only in the report');
    expect(world.run('board-report', 'runs/xint8', '--predicted', 'runs/xint8/vitisai_ep_report.json').exitCode).toBe(0);
  });

  it('adds the reasons to the vendor’s report', () => {
    world.run('board-report', 'runs/xint8', '-o', 'merged.json');
    const merged = JSON.parse(world.read('merged.json'));
    expect(merged.deviceStat).toEqual(JSON.parse(world.read('runs/xint8/vitisai_ep_report.json')).deviceStat);
    expect(merged['x-reasons'].map(({ opType }: { opType: string }) => opType)).toEqual([
      'Resize',
      'InstanceNormalization',
      'DequantizeLinear',
    ]);
  });

  it('writes a profile that lint uses', () => {
    const lint = (profile: string) => world.run('lint', 'net.onnx', '-t', profile, '--device', 'phx-hpt', ...SCOPE);
    expect(lint('ryzen-ai').stdout).not.toContain('Own board');

    writeReport('onboard.json', 'Mul', 'CPU');
    const learned = world.run(
      'board-report',
      'onboard.json',
      '--learn',
      'own.json',
      '--device',
      'phx-hpt',
      '--date',
      '2026-02-05',
      ...SCOPE,
    );
    expect(learned).toMatchObject({ exitCode: 0, stderr: '' });
    expect(learned.stdout).toMatch(/^ {2}Mul +cpu +A model: 0 of 1 on the NPU \(no reason given\)\.$/m);
    const { stdout, exitCode } = lint('own.json');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('refused[observed]');
    expect(stdout).toMatch(/source: Own board, a model, 2026-02-05 \(user\), files of the run, sha256:[0-9a-f]{64}/);

    const before = world.read('own.json');
    world.run('board-report', 'onboard.json', '--learn', 'own.json', '--device', 'phx-hpt', '--date', '2026-02-05', ...SCOPE);
    expect(world.read('own.json')).toBe(before);
  });

  it.each([
    [['runs/none'], 'error[board-file-unreadable]: runs/none cannot be read: ENOENT'],
    [['net.onnx'], 'error[board-file-unknown]: net.onnx is no report, log or list'],
    [['runs'], 'error[board-files-conflict]'],
    [['runs/xint8', '--learn', 'x.json'], 'error[board-scope]: `--learn` needs the data type and the software version'],
    [['runs/xint8', '--learn', 'x.json', '--dtype', 'xint8', '--software', '9'], 'error[unknown-version]'],
    [['runs/xint8', '--learn', 'net.onnx', ...SCOPE], 'error[profile-unreadable]: target profile net.onnx is not JSON'],
    [['runs/cpu', '--learn', 'x.json', '--device', 'phx-hpt', ...SCOPE], 'error[board-unproved]: no node ran on the NPU'],
    [['runs/xint8', '--predicted', 'net.onnx'], 'error[board-file-unknown]: net.onnx is no prediction of a bundle'],
    [['runs/xint8', '--date', '2026-02-31'], 'error[invalid-argument]'],
  ])('%j ends with 2 and says why, and writes nothing', (args, message) => {
    const { exitCode, stderr } = world.run('board-report', ...args);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
    expect(world.exists('x.json')).toBe(false);
  });
});
