/** The stage `evaluate` with one plain network. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { JsonObject } from '../../../src/base/json.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { openCaptured } from '../../../src/runtime/capture/captured.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../../src/stage/json-file.js';
import { capture } from '../../../stages/capture/stage.js';
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

/** The same for as many images at once: the score of each is in its row. */
const batched = (size: number): string =>
  MODEL.replaceAll('float[1, 3, 8', `float[${size}, 3, 8`)
    .replace('float[1, 1, 5]', `float[${size}, 1, 5]`)
    .replace('float[1, 1, 4] box = {0, 0, 4, 8}', `float[${size}, 1, 4] box = {${Array(size).fill('0, 0, 4, 8').join(', ')}}`)
    .replace('one = {1, 1, 1}', `one = {${size}, 1, 1}`);

/** The same of bytes with channels last, where the sides of the box are those of the input, divided by a scale. */
const BYTES = `
agraph (uint8[1, 8, 8, 3] image, float[1, 2] im_shape, float[1, 2] scale_factor) => (float[1, 1, 5] rows) <float[1, 2] zero = {0, 0}, float[1, 2] half = {2, 1}, int64[1] axis = {1}, int64[2] swap = {1, 0}, int64[3] first = {0, 0, 0}, int64[3] one = {1, 1, 1}, float most = {255}>
{
  bytes = Cast<to = 1>(image)
  floats = Div(bytes, most)
  planes = Transpose<perm = [0, 3, 1, 2]>(floats)
  means = ReduceMean<axes = [2, 3], keepdims = 0>(planes)
  wide = Unsqueeze(means, axis)
  red = Slice(wide, first, one)
  original = Div(im_shape, scale_factor)
  sides = Gather<axis = 1>(original, swap)
  end = Div(sides, half)
  corners = Concat<axis = 1>(zero, end)
  box = Unsqueeze(corners, axis)
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

const describeAs = async (params: JsonObject): Promise<string> => (await describeModel(model, params)).outputs.recipe ?? '';

function describeModel(path: string, params: JsonObject = {}) {
  const decoder = { grid: { output: 'rows', boxes: { form: 'corners' }, classes: { channel: 4 } } };
  return runStage(describeStage, {
    params: { preprocess: { resize: 'stretch' }, decoder, categories: [{ id: 5, name: 'half' }], ...params },
    inputs: { model: path },
    folder: folder.path,
  });
}

/** One object in the left half of the image, of the given category. */
async function run(category: number, params: JsonObject = { iouTypes: ['bbox'] }, inputs: InputPaths = {}) {
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

  it.each([2, 4])('finds the same object by a network that takes %d images at once', async size => {
    const path = join(folder.path, 'batch.onnx');
    await writeModel(path, parseModelText(batched(size)));
    const { outputs, log } = await describeModel(path);
    expect(log).toContain(`info: input "image" takes the image: float32 [${size}, 3, height, width]`);
    const given = { parts: { model: path }, recipe: outputs.recipe ?? '' };
    expect(await run(5, { iouTypes: ['bbox'] }, given)).toMatchObject({ detections: (await run(5)).detections });
  });

  it('a batch whose outputs have not a row per image is refused', async () => {
    const path = join(folder.path, 'joined.onnx');
    const joined = `agraph (float[2, 3, 8, 8] image) => (float[1, 2, 5] rows) <int64[3] shape = {1, 2, 5}, int64[1] from = {0}, int64[1] to = {5}, int64[1] axis = {1}> {
      flat = Flatten(image)
      cut = Slice(flat, from, to, axis)
      rows = Reshape(cut, shape) }`;
    await writeModel(path, parseModelText(joined));
    expect(await failureOf(() => describeModel(path))).toMatchObject({
      code: 'batch-rows',
      message: 'the network takes 2 images at once, and its output "rows" [1, 2, 5] has not a row for each',
    });
  });

  it('finds the same object from bytes with channels last, in a model that takes the size and the scale too', async () => {
    // Boxes are in pixels of the input, 8 × 8, by its size and a scale of 1. The float model gives the same rows from the same image.
    const path = join(folder.path, 'bytes.onnx');
    await writeModel(path, parseModelText(BYTES));
    const { outputs } = await describeModel(path);
    const given = { parts: { model: path }, recipe: outputs.recipe ?? '' };
    const { detections } = await run(5, { iouTypes: ['bbox'] }, given);
    expect(detections).toEqual([{ image_id: 1, category_id: 5, bbox: [0, 0, 8, 32], score: 1 }]);
    const { outputs: traced } = await runStage(capture, {
      params: { of: 'detector', samples: 1 },
      inputs: { detector: { model: path }, recipe: outputs.recipe ?? '', images },
      folder: folder.path,
    });
    const captured = await openCaptured(traced.captured ?? '');
    const [sample] = captured.index.samples;
    const tensors = sample === undefined ? {} : await captured.read(sample, 'model', 'input');
    expect(tensors.image).toMatchObject({ dtype: 'uint8', dims: [1, 8, 8, 3] });
    expect([...((tensors.image?.data ?? []) as Uint8Array)].slice(0, 3)).toEqual([255, 0, 0]);
    expect(tensors.scale_factor?.data).toEqual(Float32Array.of(1, 1));
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
