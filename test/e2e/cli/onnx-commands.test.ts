/** Errors of `tanren onnx` are one message each, and nothing is written. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import type { CliResult, CliWorld } from '../../support/cli-world.js';
import { givenModelFile } from '../../support/onnx-command-model.js';

describe('tanren onnx', () => {
  let world: CliWorld;
  const path = (name: string): string => join(world.folder, name);
  const onnx = (...args: readonly string[]): CliResult => world.run('onnx', ...args);

  beforeAll(() => {
    world = givenModelFile();
  });
  afterAll(() => world.remove());

  it.each([
    ['a step that is none', ['edit', 'model.onnx', 'new.onnx', '--script', 'model.onnx'], 'bad-edit-script'],
    ['a file that is no model', ['simplify', 'text.onnx', 'new.onnx'], 'model-malformed'],
    ['a missing external file', ['convert', 'outside.onnx', 'new.onnx', '--opset', '18'], 'external-data-missing'],
    ['a location that leaves the folder', ['infer', 'escaping.onnx', 'new.onnx'], 'external-data-path'],
    ['a value that is not there', ['extract', 'model.onnx', 'new.onnx', '-o', 'yy'], 'unknown-value'],
  ])('says %s in one message, and writes nothing', async (_, args, code) => {
    mkdirSync(path('folder'), { recursive: true });
    writeFileSync(path('text.onnx'), 'this is no model');
    for (const [name, location] of [
      ['outside.onnx', 'gone.data'],
      ['escaping.onnx', '../gone.data'],
    ] as const) {
      await writeModel(path(name), parseModelText('g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }'), {
        externalData: { thresholdBytes: 1, file: 'gone.data' },
      });
      const bytes = readFileSync(path(name));
      // The location has its length in front of it, and the entries around it theirs.
      if (location !== 'gone.data') writeFileSync(path(name), withLocation(bytes, location));
    }
    const before = readdirSync(world.folder).sort();
    world.unlink('gone.data');

    const { exitCode, stdout, stderr } = onnx(...args);

    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`^error\\[${code}\\]: .+\n(  help: .+\n)?$`));
    expect(existsSync(path('new.onnx'))).toBe(false);
    expect(readdirSync(world.folder).sort()).toEqual(before.filter(name => name !== 'gone.data'));
  });
});

describe('tanren onnx diff of models with other inputs', () => {
  let world: CliWorld;
  beforeAll(async () => {
    world = givenModelFile();
    const models: Readonly<Record<string, string>> = {
      relu: 'g (float[1, 3, 8, 8] x) => (float[1, 3, 8, 8] y) { y = Relu(x) }',
      larger: 'g (float[1, 3, 16, 16] x) => (float[1, 3, 16, 16] y) { y = Relu(x) }',
      renamed: 'g (float[1, 3, 8, 8] image) => (float[1, 3, 8, 8] y) { y = Relu(image) }',
      scaled: 'g (float[1, 3, 8, 8] x, float[1] s) => (float[1, 3, 8, 8] y) { t = Relu(x) y = Mul(t, s) }',
      free: 'g (float[N, 3, 8, ?] x) => (float[N, 3, 8, ?] y) { y = Relu(x) }',
      doubles: 'g (double[1, 3, 8, 8] x) => (double[1, 3, 8, 8] y) { y = Relu(x) }',
    };
    for (const [name, text] of Object.entries(models)) await writeModel(join(world.folder, `${name}.onnx`), parseModelText(text));
  });
  afterAll(() => world.remove());

  it.each([
    ['larger', 'input "x": float32 [1, 3, 8, 8] was given, the second model takes float32 [1, 3, 16, 16]'],
    ['scaled', 'only the second model has the input "s"'],
    ['doubles', 'input "x": float32 [1, 3, 8, 8] was given, the second model takes float64 [1, 3, 8, 8]'],
  ])('%s: shows the structure, and why no value is compared', (name, reason) => {
    const { exitCode, stdout, stderr } = world.run('onnx', 'diff', 'relu.onnx', `${name}.onnx`);
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^structure: \d+ differences\n/);
    expect(stdout).toContain(`values: not compared, because the inputs of the models differ\n  ${reason}\n`);
    expect(JSON.parse(world.run('onnx', 'diff', 'relu.onnx', `${name}.onnx`, '--json', '--only', 'values').stdout)).toMatchObject({
      values: { notCompared: [reason] },
    });
  });

  it('an input that only the first model has is named, and dynamic dims take the sizes of the second', () => {
    expect(world.run('onnx', 'diff', 'scaled.onnx', 'relu.onnx').stdout).toContain('only the first model has the input "s"');
    expect(world.run('onnx', 'diff', 'free.onnx', 'relu.onnx').stdout).toContain('no value differs');
    expect(world.run('onnx', 'diff', 'free.onnx', 'relu.onnx', '--dim', 'N=2').stdout).toContain(
      'input "x": float32 [2, 3, 8, 8] was given',
    );
    expect(world.run('onnx', 'diff', 'relu.onnx', 'renamed.onnx').stdout).toContain('no value differs');
  });
});

/** The same model with another location of the same length as "gone.data". */
function withLocation(bytes: Uint8Array, location: string): Uint8Array {
  const text = Buffer.from(bytes);
  const at = text.indexOf('gone.data');
  text.write(location.slice(0, 9).padEnd(9, 'x'), at);
  return text;
}
