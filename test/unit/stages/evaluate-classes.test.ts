/** The stage `evaluate-classes`: accuracy of classifiers, labels, errors. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Json, JsonObject } from '../../../src/base/json.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { evaluateClasses } from '../../../stages/evaluate-classes/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, runStage } from '../../support/run-stage.js';

/** The scores are the mean of red, of green and of blue. */
const MEANS = `
agraph (float[1, 3, 2, 2] image) => (float[1, 3] scores, float[1, 3, 2, 2] same)
{
  scores = ReduceMean<axes = [2, 3], keepdims = 0>(image)
  same = Identity(image)
}`;

const COLORS = { 'r.png': [200, 10, 10], 'g.png': [10, 200, 10], 'mixed.png': [90, 90, 10] } as const;

const folder = givenFolder('evaluate-classes');
let model: string;
let images: string;

beforeAll(async () => {
  model = join(folder.path, 'model.onnx');
  images = join(folder.path, 'images');
  await writeModel(model, parseModelText(MEANS));
  await mkdir(images);
  for (const [name, [r, g, b]] of Object.entries(COLORS))
    await sharp({ create: { width: 2, height: 2, channels: 3, background: { r, g, b } } })
      .png()
      .toFile(join(images, name));
});

async function classify(images: string) {
  const { outputs } = await runStage(evaluateClasses, {
    params: { preprocess: {}, output: 'scores' },
    inputs: { model, images },
    folder: folder.path,
  });
  return { metrics: await readJsonFile(outputs.metrics ?? '') };
}

async function run(labels: string, params: JsonObject = {}, baseline?: Json) {
  const inputs: Record<string, string> = { model, images, labels: join(folder.path, 'labels.txt') };
  await writeFile(inputs.labels ?? '', labels);
  if (baseline !== undefined) {
    inputs.baseline = join(folder.path, 'baseline.json');
    await writeFile(inputs.baseline, JSON.stringify(baseline));
  }
  const { outputs } = await runStage(evaluateClasses, {
    params: { preprocess: {}, output: 'scores', ...params },
    inputs,
    folder: folder.path,
  });
  return { metrics: await readJsonFile(outputs.metrics ?? ''), predictions: await readJsonFile(outputs.predictions ?? '') };
}

const LABELS = 'r.png 0\ng.png 1\nmixed.png 1\n';

describe('evaluate-classes', () => {
  it('gives the same for a network that takes several images at once', async () => {
    const one = await run(LABELS);
    const own = model;
    model = join(folder.path, 'batch.onnx');
    await writeModel(model, parseModelText(MEANS.replaceAll('float[1,', 'float[4,')));
    expect(await run(LABELS)).toEqual(one);
    model = own;
  });

  it('gives the share of images whose class has the top score; of equal scores the lower class wins', async () => {
    const { metrics, predictions } = await run(LABELS);
    expect(metrics).toEqual({ top1: 2 / 3, top5: 1, images: 3 });
    expect(predictions).toMatchObject([
      { file: 'g.png', label: 1, classes: [1, 0, 2] },
      { file: 'mixed.png', label: 1, classes: [0, 1, 2] },
      { file: 'r.png', label: 0, classes: [0, 1, 2] },
    ]);
  });

  it('gives differences to a baseline', async () => {
    const { metrics } = await run(LABELS, {}, { top1: 1, top5: 1, images: 3 });
    expect(metrics).toMatchObject({ delta: { top1: 2 / 3 - 1, top5: 0 } });
  });

  it('takes the first images by name with `samples`', async () => {
    expect((await run(LABELS, { samples: 1 })).metrics).toEqual({ top1: 1, top5: 1, images: 1 });
  });

  it('without labels the folders are the classes; another number than the model has is an error', async () => {
    const sorted = join(folder.path, 'sorted');
    for (const [name, label] of Object.entries({ 'r.png': 'a', 'g.png': 'b', 'mixed.png': 'c' })) {
      await mkdir(join(sorted, label), { recursive: true });
      await copyFile(join(images, name), join(sorted, label, name));
    }
    expect((await classify(sorted)).metrics).toEqual({ top1: 2 / 3, top5: 1, images: 3 });
    // Such as editors leave: every class behind it would be another.
    await mkdir(join(sorted, '.checkpoints'));
    expect(await failureOf(() => classify(sorted))).toMatchObject({
      code: 'class-count',
      message: expect.stringContaining('the model has 3 classes, but there are 4 folders of images'),
    });
  });

  it.each<[string, string, JsonObject, Json | undefined, string, RegExp]>([
    [
      'a label that the model lacks',
      'r.png 3\ng.png 1\nmixed.png 1',
      {},
      undefined,
      'class-count',
      /"r.png" has the label 3; the model has 3 classes/,
    ],
    ['names of other classes', LABELS, { classes: ['a', 'b'] }, undefined, 'class-count', /the model has 3 classes, but `classes` has 2/],
    ['an output that is not one row', LABELS, { output: 'same' }, undefined, 'class-scores', /output "same" is float32 \[1, 3, 2, 2\]/],
    ['an unknown output', LABELS, { output: 'z' }, undefined, 'class-output', /no output "z"/],
    [
      'a baseline of other images',
      LABELS,
      {},
      { top1: 1, top5: 1, images: 4 },
      'baseline-metrics',
      /measured on 4 images, this stage on 3/,
    ],
    ['a baseline of detections', LABELS, {}, { images: 3 }, 'baseline-metrics', /not the metrics of an `evaluate-classes`: .*top1/],
    ['images of another size', LABELS, { preprocess: { resize: 'crop', shorterSide: 1 } }, undefined, 'input-size', /image g.png/],
    ['an image without label', 'r.png 0', {}, undefined, 'labels-missing', /2 of 3 images/],
  ])('refuses %s', async (_what, labels, params, baseline, code, message) => {
    expect(await failureOf(() => run(labels, params, baseline))).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});
