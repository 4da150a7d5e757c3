/** External data beside a source model: found by its name, part of the key, and named in errors where it is missing. */
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../src/onnx/text/parse-text.js';
import { type CliWorld, givenProject } from '../support/cli-world.js';

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
