/** The commands of `tanren onnx` on the models of the example. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import type { CliResult, CliWorld } from '../../support/cli-world.js';
import { COMMAND_MODEL, givenModelFile } from '../../support/onnx-command-model.js';

describe('tanren onnx', () => {
  let world: CliWorld;
  const path = (name: string): string => join(world.folder, name);
  const onnx = (...args: readonly string[]): CliResult => world.run('onnx', ...args);
  const json = (...args: readonly string[]): Record<string, unknown> => JSON.parse(onnx(...args, '--json').stdout);

  beforeAll(() => {
    world = givenModelFile();
  });
  afterAll(() => world.remove());

  it('inspects, checks and counts', () => {
    expect(onnx('inspect', 'model.onnx').stdout).toContain('input    x  float32 [N, 3, 8, 8]');
    expect(json('check', 'model.onnx')).toEqual({ file: 'model.onnx', problems: [], unchecked: [] });
    expect(json('stats', 'model.onnx', '--dim', 'N=2')).toMatchObject({
      nodes: 5,
      operators: { Conv: 1, BatchNormalization: 1, Identity: 1, Relu: 1, Sigmoid: 1 },
      parameters: 28,
      macs: 2 * 4 * 64 * 3,
      activationBytes: 5 * 2 * 4 * 64 * 4,
      peakActivationBytes: 2 * (2 * 4 * 64 * 4),
      unknownNodes: 0,
    });
  });

  it('simplifies with an equality check; diff lists changed nodes, and values that differ only by rounding', async () => {
    const { exitCode, stdout } = onnx('simplify', 'model.onnx', 'simple.onnx');
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringContaining('simple.onnx: 5 nodes became 3; outputs equal on 2 samples (rounding)'),
    ]);

    const values = onnx('diff', 'model.onnx', 'simple.onnx', '--only', 'values', '--tolerance', '1e-5');
    expect([values.exitCode, values.stdout]).toEqual([0, expect.stringContaining('no value differs')]);
    const structure = onnx('diff', 'model.onnx', 'simple.onnx', '--only', 'structure');
    expect([structure.exitCode, structure.stdout]).toEqual([1, expect.stringContaining('- node Identity "same"')]);
    expect(onnx('diff', 'model.onnx', 'model.onnx').exitCode).toBe(0);
  });

  it('names the first value that differs', async () => {
    const other = parseModelText(COMMAND_MODEL.replace('scale = {1, 2,', 'scale = {1, 2.5,'));
    await writeModel(path('other.onnx'), other);

    const { exitCode, stdout } = onnx('diff', 'model.onnx', 'other.onnx');

    expect(exitCode).toBe(1);
    expect(stdout).toContain('~ constant scale: content 4 elements became 1 of 4 elements differ');
    expect(stdout).toContain('first deviation: "n" (BatchNormalization "norm"); 4 values in total');
  });

  it('extracts, infers and converts; external weights stay external', async () => {
    expect(onnx('extract', 'model.onnx', 'part.onnx', '-i', 'n', '-o', 'y').stdout).toContain('2 nodes of 5, from n to y');
    expect(onnx('infer', 'model.onnx', 'typed.onnx', '--shape', 'x=1x3x8x8').stdout).toContain(
      'of 5 computed values 5 have a dtype, 5 a rank, 5 a static shape',
    );
    const big = `g (float[1, 300] x) => (float[1, 300] y) <float[300, 300] w = {${Array.from({ length: 90_000 }, (_, i) => i % 7)}}> { y = MatMul(x, w) }`;
    await writeModel(path('big.onnx'), parseModelText(big));

    expect(onnx('convert', 'big.onnx', 'out.onnx', '--opset', '18', '--weights', 'outside').exitCode).toBe(0);
    expect(onnx('convert', 'out.onnx', 'again.onnx').exitCode).toBe(0);

    expect(readFileSync(path('again.onnx.data')).byteLength).toBe(360_000);
    expect((await readModel(path('again.onnx'))).opsets.get('')).toBe(18);
    expect(onnx('diff', 'big.onnx', 'again.onnx', '--only', 'values').exitCode).toBe(0);

    expect(onnx('convert', 'again.onnx', 'again.onnx', '--weights', 'inside').exitCode).toBe(0);
    expect(existsSync(path('again.onnx.data'))).toBe(false);
    expect(existsSync(path('out.onnx.data'))).toBe(true);
    expect(onnx('diff', 'big.onnx', 'again.onnx', '--only', 'values').exitCode).toBe(0);
  });

  it('edits by options and by script, swaps a part, renames and merges', async () => {
    expect(onnx('edit', 'model.onnx', 'edited.onnx', '--select', 'op=Sigmoid', '--set', '__note=why', '--remove', 'same').stdout).toBe(
      'Sigmoid "sigmoid": attribute __note changed from absent to "why"\nIdentity "same" removed\n',
    );
    world.write('steps.json', JSON.stringify([{ swap: { inputs: ['c'], outputs: ['n'], with: 'scale.onnx' } }, { addOutput: 'n' }]));
    await writeModel(
      path('scale.onnx'),
      parseModelText('<opset_import: ["": 13]> s (float[N, 4, 8, 8] a) => (float[N, 4, 8, 8] b) { b = Neg(a) }'),
    );
    expect(json('edit', 'model.onnx', 'swapped.onnx', '--script', 'steps.json')).toEqual({
      file: 'swapped.onnx',
      done: ['norm removed', 'n added to the outputs'].toSpliced(1, 0, ...['scale', 'bias', 'mean', 'var'].map(name => `${name} removed`)),
    });
    expect(onnx('rename', 'model.onnx', 'renamed.onnx', '--value', 'x=image', '--node', '*=net/*').stdout).toContain(
      '1 value and 5 nodes renamed',
    );
    const merged = onnx('merge', 'renamed.onnx', 'scale.onnx', 'merged.onnx', '--connect', 'y=a', '--prefix-second', 'tail/');
    expect(merged.stdout).toBe('merged.onnx: 6 nodes, from image to z, tail/b\n');
    expect(onnx('check', 'merged.onnx').exitCode).toBe(0);
  });

  it('writes to allowed paths, and refuses others with the reason', () => {
    mkdirSync(path('there/model.onnx'), { recursive: true });
    writeFileSync(path('a-file'), '');
    expect(onnx('rename', 'model.onnx', 'there/model.onnx', '--node', 'conv=c').stderr).toContain('error[not-a-file]');
    expect(onnx('rename', 'model.onnx', 'a-file/model.onnx', '--node', 'conv=c').stderr).toContain('error[not-writable]');
  });

  it.each([
    ['a selector that means nothing', ['edit', 'model.onnx', 'new.onnx', '--remove', 'op=Relo'], 'selector-matches-nothing'],
    ['a name that is taken', ['rename', 'model.onnx', 'new.onnx', '--value', 'c=n'], 'name-taken'],
    ['ends that do not fit', ['merge', 'model.onnx', 'model.onnx', 'new.onnx', '--connect', 'y=x'], 'type-mismatch'],
    ['a file that is not there', ['inspect', 'none.onnx'], 'model-unreadable'],
    ['a folder', ['print', 'folder'], 'model-unreadable'],
    ['a size that is not there', ['stats', 'model.onnx', '--dim', 'M=1'], 'pin-unknown'],
    ['an operator set out of reach', ['convert', 'model.onnx', 'new.onnx', '--opset', '99'], 'opset-conversion'],
  ])('says %s in one message, and writes nothing', async (_, args, code) => {
    mkdirSync(path('folder'), { recursive: true });
    writeFileSync(path('text.onnx'), 'this is no model');
    const before = readdirSync(world.folder).sort();

    const { exitCode, stdout, stderr } = onnx(...args);

    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`^error\\[${code}\\]: .+\n(  help: .+\n)?$`));
    expect(existsSync(path('new.onnx'))).toBe(false);
    expect(readdirSync(world.folder).sort()).toEqual(before);
  });
});
