/** The pipeline and the decoder of docs/your-own-model.md work as written there, on a small constructed network. */
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../src/onnx/text/parse-text.js';
import { type CliWorld, givenProject } from '../support/cli-world.js';
import { PROJECT } from '../support/shapes-project.js';

const page = readFileSync(join(PROJECT, 'docs/your-own-model.md'), 'utf8');
const blocks = (language: string): string[] =>
  page
    .split(`\`\`\`${language}\n`)
    .slice(1)
    .map(text => text.split('\n```')[0] ?? '');

/** Of each 8×8 cell the mean color; red is objectness, green the cat and blue the dog, and the box is the cell. */
const ROWS = `
agraph (float[1, 3, 32, 32] image) => (float[1, 16, 7] rows)
<float[7, 3, 1, 1] w = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, float[7] b = {0.5, 0.5, 0, 0, 0, 0, 0}, int64[3] shape = {1, 7, 16}>
{
  cells = AveragePool<kernel_shape = [8, 8], strides = [8, 8]>(image)
  maps = Conv(cells, w, b)
  flat = Reshape(maps, shape)
  rows = Transpose<perm = [0, 2, 1]>(flat)
}`;

/** The same without objectness, as maps; boxes are half a cell in and one cell large. */
const MAPS = `
agraph (float[1, 3, 32, 32] image) => (float[1, 2, 4, 4] scores, float[1, 4, 4, 4] boxes)
<float[2, 3, 1, 1] v = {0, 1, 0, 0, 0, 1}, float[4, 3, 1, 1] w = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, float[4] b = {0.5, 0.5, 1, 1}>
{
  cells = AveragePool<kernel_shape = [8, 8], strides = [8, 8]>(image)
  scores = Conv(cells, v)
  boxes = Conv(cells, w, b)
}`;

/** A cat in cell (1, 2) of the first picture, a dog in cell (3, 0) of the second. */
const OBJECTS = [
  { id: 1, color: '#ffff00', left: 8, top: 16, category: 3 },
  { id: 2, color: '#ff00ff', left: 24, top: 0, category: 7 },
] as const;

async function givenOwnModel(pipeline: string, model: string): Promise<CliWorld> {
  const instances = {
    images: OBJECTS.map(({ id }) => ({ id, file_name: `${id}.png`, width: 32, height: 32 })),
    categories: [
      { id: 3, name: 'cat' },
      { id: 7, name: 'dog' },
    ],
    annotations: OBJECTS.map(({ id, left, top, category }) => ({
      id,
      image_id: id,
      category_id: category,
      bbox: [left, top, 8, 8],
      area: 64,
      iscrowd: 0,
    })),
  };
  const world = givenProject({ 'pipeline.yaml': pipeline, 'instances.json': JSON.stringify(instances) });
  await writeModel(join(world.folder, 'detector.onnx'), parseModelText(model));
  await mkdir(join(world.folder, 'images'));
  for (const { id, color, left, top } of OBJECTS) {
    const square = await sharp({ create: { width: 8, height: 8, channels: 3, background: color } })
      .png()
      .toBuffer();
    await sharp({ create: { width: 32, height: 32, channels: 3, background: '#000000' } })
      .composite([{ input: square, left, top }])
      .png()
      .toFile(join(world.folder, 'images', `${id}.png`));
  }
  return world;
}

const executed = (world: CliWorld): readonly string[] => {
  const { stdout, exitCode, stderr } = world.run('build', '--json');
  expect([exitCode, stderr]).toEqual([0, expect.anything()]);
  const { stages } = JSON.parse(stdout) as {
    readonly stages: readonly { readonly stage: string; readonly outcome: { readonly kind: string } }[];
  };
  return stages.filter(({ outcome }) => outcome.kind === 'executed').map(({ stage }) => stage);
};
const metricsOf = (world: CliWorld, stage: string) => JSON.parse(world.read(`artifacts/${stage}/metrics.json`)) as Record<string, never>;

describe('docs/your-own-model.md', () => {
  it('its pipeline builds, float and int8 detect both objects, and its gate is met', async () => {
    const world = await givenOwnModel(blocks('yaml')[0] ?? '', ROWS);
    expect(executed(world)).toHaveLength(7);
    expect(metricsOf(world, 'evaluate-float')).toMatchObject({ bbox: { AP: expect.closeTo(1, 12) }, detections: 2 });
    expect(metricsOf(world, 'evaluate-int8')).toMatchObject({
      bbox: { AP: expect.closeTo(1, 12) },
      delta: { bbox: { AP: expect.closeTo(0, 12) } },
    });
    expect(executed(world)).toEqual([]);
    world.remove();
  });

  it('its decoder works; after a change, describe and evaluate run again, and the model is not rebuilt', async () => {
    const [decoder = ''] = blocks('js');
    const stage = (blocks('yaml')[1] ?? '').replace('[cat, dog]', '[{id: 3, name: cat}, {id: 7, name: dog}]');
    const pipeline = `version: 1
sources: {model: detector.onnx, decoder: decoder.js, val: {annotations: instances.json, images: images}}
stages:
  import: {uses: import, inputs: {model: "\${sources.model}"}}
  simplify: {uses: simplify, inputs: {model: import.model}}
${stage}
  evaluate: {uses: evaluate, with: {iouTypes: [bbox]}, inputs: {parts: {model: simplify.model}, recipe: detector.recipe, data: "\${sources.val}"}}
`;
    const world = await givenOwnModel(pipeline, MAPS);
    world.write('decoder.js', decoder);
    executed(world);
    expect(metricsOf(world, 'evaluate')).toMatchObject({ bbox: { AP: expect.closeTo(1, 12) } });

    world.write('decoder.js', decoder.replace('found.classes.push(label)', 'found.classes.push(1 - label)'));
    expect(executed(world)).toEqual(['detector', 'evaluate']);
    expect(metricsOf(world, 'evaluate')).toMatchObject({ bbox: { AP: 0 } });

    world.write('decoder.js', decoder.replace('found.classes.push(label)', 'found.classes.push(label + 5)'));
    const { exitCode, stderr, stdout } = world.run('build');
    expect([exitCode, stdout + stderr]).toEqual([1, expect.stringMatching(/decoder-result.*the class 5; expected 0 to 1/)]);
    world.remove();
  });
});
