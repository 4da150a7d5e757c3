/** The stage `evaluate` with one plain network. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { JsonObject } from '../../../src/base/json.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { readJsonFile, writeJsonFile } from '../../../src/stage/json-file.js';
import { describe as describeStage } from '../../../stages/describe/stage.js';
import { evaluate } from '../../../stages/evaluate/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, runStage } from '../../support/run-stage.js';

/** One candidate: the left half of the input, its score the mean of red. */
const MODEL = `
agraph (float[1, 3, 8, 8] image) => (float[1, 1, 5] rows) <float[1, 1, 4] box = {0, 0, 4, 8}, int64[1] axis = {1}, int64[3] first = {0, 0, 0}, int64[3] one = {1, 1, 1}>
{
  means = ReduceMean<axes = [2, 3], keepdims = 0>(image)
  wide = Unsqueeze(means, axis)
  red = Slice(wide, first, one)
  rows = Concat<axis = 2>(box, red)
}`;

const folder = givenFolder('evaluate-single');
let model: string;
let recipe: string;
let images: string;

beforeAll(async () => {
  [model, images] = [join(folder.path, 'model.onnx'), join(folder.path, 'images')];
  await writeModel(model, parseModelText(MODEL));
  await mkdir(images);
  await sharp({ create: { width: 16, height: 32, channels: 3, background: '#ff0000' } })
    .png()
    .toFile(join(images, 'red.png'));
  recipe = await describeAs({});
});

async function describeAs(params: JsonObject): Promise<string> {
  const decoder = { grid: { output: 'rows', boxes: { form: 'corners' }, classes: { channel: 4 } } };
  const { outputs } = await runStage(describeStage, {
    params: { preprocess: { resize: 'stretch' }, decoder, categories: [{ id: 5, name: 'half' }], ...params },
    inputs: { model },
    folder: folder.path,
  });
  return outputs.recipe ?? '';
}

/** One object in the left half of the image, of the given category. */
async function run(category: number, params: JsonObject = { iouTypes: ['bbox'] }, inputs: Readonly<Record<string, string>> = {}) {
  const annotations = join(folder.path, 'instances.json');
  await writeJsonFile(annotations, {
    images: [{ id: 1, file_name: 'red.png', width: 16, height: 32 }],
    categories: [{ id: category, name: 'thing' }],
    annotations: [
      { id: 1, image_id: 1, category_id: category, bbox: [0, 0, 8, 32], area: 256, iscrowd: 0, segmentation: [[0, 0, 8, 0, 8, 32, 0, 32]] },
    ],
  });
  const { outputs, log } = await runStage(evaluate, {
    params,
    inputs: { parts: { model }, recipe, data: { annotations, images }, ...inputs },
    folder: folder.path,
  });
  return {
    metrics: (await readJsonFile(outputs.metrics ?? '')) as JsonObject,
    detections: await readJsonFile(outputs.detections ?? ''),
    log,
  };
}

describe('evaluate of one plain network', () => {
  it('finds the object, mapped back into the image', async () => {
    const { metrics, detections, log } = await run(5);
    expect(metrics).toMatchObject({ bbox: { AP: expect.closeTo(1, 12) }, detections: 1 });
    expect(detections).toEqual([{ image_id: 1, category_id: 5, bbox: [0, 0, 8, 32], score: 1 }]);
    expect(log.filter(line => line.startsWith('warning'))).toEqual([]);
  });

  it('warns if no detection has a category of the annotations', async () => {
    const { metrics, log } = await run(6);
    expect(metrics).toMatchObject({ bbox: { AP: 0 }, detections: 1 });
    expect(log).toContain('warning: none of 1 detections count: they have categories 5, but the annotations have 6 (thing)');
  });

  it('uses boxes as masks with a warning', async () => {
    const { log } = await run(5, {});
    expect(log).toContainEqual(expect.stringMatching(/^warning: the detector has no masks/));
  });

  it('an image without detections gives a figure of 0', async () => {
    const { metrics, detections } = await run(5, { iouTypes: ['bbox'] }, { recipe: await describeAs({ scoreThreshold: 2 }) });
    expect(metrics).toMatchObject({ bbox: { AP: 0, AR100: 0 }, detections: 0 });
    expect(detections).toEqual([]);
  });

  it('refuses a config and a fit policy', async () => {
    expect(await failureOf(() => run(5, {}, { config: recipe }))).toMatchObject({ code: 'config-mismatch' });
    expect(await failureOf(() => run(5, { fit: 'static' }))).toMatchObject({ code: 'config-mismatch' });
  });

  it('names the part that it expects', async () => {
    const failure = await failureOf(() => run(5, {}, { parts: { backbone: model } as never }));
    expect(failure).toMatchObject({ code: 'part-missing', message: expect.stringContaining('no model is given for model') });
  });
});
