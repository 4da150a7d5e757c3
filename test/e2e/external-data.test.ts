/** External data beside a source model: found by its name, part of the key, and named in errors where it is missing. */
import { copyFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../src/onnx/text/parse-text.js';
import { type CliWorld, givenProject } from '../support/cli-world.js';
import { writeSplitWeights } from '../support/split-weights.js';

const PIPELINE = `version: 1
sources: {model: net.onnx}
stages:
  import: {uses: import, inputs: {model: "\${sources.model}"}}
`;

let world: CliWorld;
beforeEach(() => {
  world = givenProject({ 'pipeline.yaml': PIPELINE });
});
afterEach(() => world.remove());

async function giveModel(first: number, dataFile: string): Promise<void> {
  const text = `<ir_version: 8, opset_import: ["": 17]> g (float[1, 3, 4, 4] x) => (float[1, 2, 4, 4] y)
    <float[2, 3, 1, 1] w = {${first}, 2, 3, 4, 5, 6}> { y = Conv(x, w) }`;
  await writeModel(join(world.folder, 'net.onnx'), parseModelText(text), { externalData: { thresholdBytes: 1, file: dataFile } });
}

const outcomes = (): readonly string[] =>
  JSON.parse(world.run('build', '--json').stdout).stages.map(
    ({ outcome }: { readonly outcome: { readonly kind: string } }) => outcome.kind,
  );

it.each(['net.onnx.data', 'net.onnx_data'])('%s beside the model is read without being named', async file => {
  await giveModel(1, file);
  expect(world.run('build').exitCode).toBe(0);
});

it('counts as an input: other weights make a stage outdated, and their absence is an error that says what to connect', async () => {
  await giveModel(1, 'net.onnx.data');
  expect(outcomes()).toEqual(['executed']);
  expect(outcomes()).toEqual(['up-to-date']);

  copyFileSync(join(world.folder, 'net.onnx'), join(world.folder, 'kept.onnx'));
  await giveModel(7, 'net.onnx.data');
  copyFileSync(join(world.folder, 'kept.onnx'), join(world.folder, 'net.onnx'));
  expect(outcomes()).toEqual(['executed']);

  rmSync(join(world.folder, 'net.onnx.data'));
  const { exitCode, stdout } = world.run('build');
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining('external-data-missing')]);
  expect(stdout).toContain('externalData: "${sources.weights}"');
});

it('is found as soon as it lies there', async () => {
  await giveModel(1, 'net.onnx.data');
  renameSync(join(world.folder, 'net.onnx.data'), join(world.folder, 'away'));
  expect(world.run('build').exitCode).toBe(1);
  renameSync(join(world.folder, 'away'), join(world.folder, 'net.onnx.data'));
  expect(world.run('build').exitCode).toBe(0);
});

it('of another name is connected as a file', async () => {
  await giveModel(1, 'weights.bin');
  world.write(
    'pipeline.yaml',
    PIPELINE.replace('net.onnx', 'net.onnx, weights: weights.bin').replace(
      'sources.model}"',
      'sources.model}", externalData: "${sources.weights}"',
    ),
  );
  expect(world.run('build').exitCode).toBe(0);
});

it.each(['net.onnx.data', 'weights.bin'])('is drafted by init --model where it is needed: %s', async file => {
  await giveModel(1, file);
  rmSync(join(world.folder, 'pipeline.yaml'));
  expect(world.run('init', '--model', 'net.onnx').exitCode).toBe(0);
  expect(world.read('pipeline.yaml').includes('weights: weights.bin')).toBe(file === 'weights.bin');
  expect(world.run('build', 'import').exitCode).toBe(0);
});

describe('the folder of the project as the source of external data', () => {
  const IN_PROJECT = PIPELINE.replace('net.onnx', 'net.onnx, weights: .').replace(
    'sources.model}"',
    'sources.model}", externalData: "${sources.weights}"',
  );

  beforeEach(() => {
    writeSplitWeights(world.folder, ['a.bin', 'weights/b.bin']);
    world.write('pipeline.yaml', IN_PROJECT);
  });

  it('counts only by the files that the model names', () => {
    expect(outcomes()).toEqual(['executed']);
    world.write('other.txt', 'no part of the model');
    expect(outcomes()).toEqual(['up-to-date']);
    expect(world.run('build').stdout).toContain('nothing to do');
    writeSplitWeights(world.folder, ['a.bin', 'weights/b.bin'], [5, 6, 7, 8]);
    expect(world.run('explain', 'import').stdout).toContain('source a.bin changed');
    expect(outcomes()).toEqual(['executed']);
  });

  it('is read again after another model names other files', () => {
    expect(outcomes()).toEqual(['executed']);
    writeSplitWeights(world.folder, ['a.bin', 'c.bin']);
    expect(outcomes()).toEqual(['executed']);
    expect(world.read('pipeline.lock')).toContain('externalData.c.bin');
    expect(world.read('pipeline.lock')).not.toContain('externalData.weights/b.bin');
  });

  it.each([
    ['a link out of the folder', '/etc/hostname', 'error[source-outside-folder]'],
    ['a link to an artifact', '../artifacts/import/model.onnx', 'error[source-is-written]'],
  ])('refuses %s', (_, target, error) => {
    expect(outcomes()).toEqual(['executed']);
    rmSync(join(world.folder, 'weights/b.bin'));
    symlinkSync(target, join(world.folder, 'weights/b.bin'));
    const { exitCode, stdout, stderr } = world.run('build');
    expect([exitCode, stdout + stderr]).toEqual([2, expect.stringContaining(error)]);
  });

  it.each(['artifacts/b.bin', 'cache/b.bin', '../b.bin'])('does not read %s, whatever the model says', location => {
    writeSplitWeights(world.folder, ['a.bin', location]);
    const { exitCode, stdout, stderr } = world.run('build');
    expect(exitCode).not.toBe(0);
    expect(stdout + stderr).toMatch(/source-is-written|external-data-path/);
  });

  it('says which file is missing', () => {
    rmSync(join(world.folder, 'weights/b.bin'));
    const { exitCode, stdout } = world.run('build');
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/external-data-missing.*"weights\/b\.bin"/)]);
  });

  it('is drafted by init --model', () => {
    rmSync(join(world.folder, 'pipeline.yaml'));
    expect(world.run('init', '--model', 'net.onnx').exitCode).toBe(0);
    expect(world.read('pipeline.yaml')).toContain('weights: "."');
    expect(world.run('build', 'import').exitCode).toBe(0);
  });

  it('stays refused for a stage that would read all of it', () => {
    world.write(
      'pipeline.yaml',
      `${IN_PROJECT}  all: {uses: command, with: {run: [ls], inputs: {x: x}, outputs: {y: y}}, inputs: {x: "\${sources.weights}"}}\n`,
    );
    const { exitCode, stdout, stderr } = world.run('build');
    expect([exitCode, stdout + stderr]).toEqual([
      2,
      expect.stringContaining('error[source-is-written]: source "weights" holds artifacts/'),
    ]);
  });
});
