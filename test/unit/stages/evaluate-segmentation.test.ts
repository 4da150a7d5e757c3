/** The stage `evaluate-segmentation`: mIoU against torch and numpy, masks, names, errors. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Json, JsonObject } from '../../../src/base/json.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { evaluateSegmentation } from '../../../stages/evaluate-segmentation/stage.js';
import { failureOf } from '../../support/error-code.js';
import { fixturePath } from '../../support/fixtures.js';
import { givenFolder, runStage } from '../../support/run-stage.js';

const folder = givenFolder('evaluate-segmentation');
const NAMES = { maskNames: { from: '_rgb', to: '_ids' } };

async function run(
  params: JsonObject,
  inputs: Record<string, string> = {},
): Promise<{ metrics: JsonObject; report: JsonObject; log: string }> {
  const own = {
    model: fixturePath('segmentation/model.onnx'),
    images: fixturePath('segmentation/images'),
    masks: fixturePath('segmentation/masks'),
    ...inputs,
  };
  const { outputs, log } = await runStage(evaluateSegmentation, {
    params: { preprocess: { resize: 'pad' }, ...params },
    inputs: own,
    folder: folder.path,
  });
  const read = async (port: string): Promise<JsonObject> => (await readJsonFile(outputs[port] ?? '')) as JsonObject;
  return { metrics: await read('metrics'), report: await read('report'), log: log.join('\n') };
}

describe('evaluate-segmentation', () => {
  it('gives the confusion counts and figures of torch and numpy, for palette, interlaced and 16-bit masks', async () => {
    const expected = JSON.parse(await readFile(fixturePath('segmentation/expected.json'), 'utf8')) as {
      confusion: number[][];
      iou: number[];
      miou: number;
      pixelAccuracy: number;
      meanAccuracy: number;
      pixels: number;
    };
    const { metrics, report } = await run(NAMES);
    const counts = expected.confusion.flatMap((row, label) =>
      row.map((pixels, own) => [label, own, pixels]).filter(([, , pixels]) => pixels !== 0),
    );
    expect(counts.length).toBeGreaterThan(15);
    expect(report.confusion).toEqual(counts);
    // Sums of integers are exact; shares are quotients of them, rounded once, and means of five.
    const near = (value: number): unknown => expect.closeTo(value, 12);
    expect(metrics).toEqual({
      miou: near(expected.miou),
      pixelAccuracy: near(expected.pixelAccuracy),
      meanAccuracy: near(expected.meanAccuracy),
      images: 3,
      pixels: expected.pixels,
      iou: Object.fromEntries(expected.iou.map((iou, label) => [String(label), near(iou)])),
    });
  });

  it('names classes, takes the listed images, and gives differences to a baseline', async () => {
    const list = join(folder.path, 'val.txt');
    await writeFile(list, '# one without extension, one with\na_rgb\nc_rgb.png\n');
    const classes = ['road', 'tree', 'car', 'sky', 'other'];
    const { metrics } = await run({ ...NAMES, classes }, { list });
    expect(metrics.images).toBe(2);
    expect(Object.keys(metrics.iou as JsonObject)).toEqual(classes);
    const baseline = join(folder.path, 'baseline.json');
    await writeFile(baseline, JSON.stringify({ ...metrics, miou: 0.5 }));
    const again = await run({ ...NAMES, classes }, { list, baseline });
    expect(again.metrics.delta).toEqual({ miou: (metrics.miou as number) - 0.5, pixelAccuracy: 0, meanAccuracy: 0 });
    await writeFile(baseline, JSON.stringify({ ...metrics, pixels: 3 }));
    expect(await failureOf(() => run({ ...NAMES, classes }, { list, baseline }))).toMatchObject({ code: 'baseline-metrics' });
  });

  it('ignores the numbers that it is told to, and takes classes from others', async () => {
    const all = await run(NAMES);
    const shifted = await run({ ...NAMES, firstValue: 1 });
    const mapped = await run({ ...NAMES, values: { 1: 0, 2: 1, 3: 2, 4: 3 } });
    expect(shifted.metrics).toEqual(mapped.metrics);
    expect(shifted.metrics.pixels).toBeLessThan(all.metrics.pixels as number);
    expect((await run({ ...NAMES, ignore: [255, 0] })).metrics.pixels).toBe(shifted.metrics.pixels);
  });

  it('does not count pixels that the input does not show, and warns', async () => {
    const images = join(folder.path, 'wide');
    const masks = join(folder.path, 'wide-masks');
    await mkdir(images);
    await mkdir(masks);
    const size = { width: 48, height: 24 };
    await sharp({ create: { ...size, channels: 3, background: '#405060' } })
      .png()
      .toFile(join(images, 'w.png'));
    await sharp(new Uint8Array(48 * 24), { raw: { ...size, channels: 1 } })
      .toColourspace('b-w')
      .png()
      .toFile(join(masks, 'w.png'));
    const { metrics, log } = await run({ preprocess: { resize: 'crop', shorterSide: 24 } }, { images, masks });
    expect(metrics.pixels).toBe(32 * 24);
    expect(log).toContain(`${16 * 24} labeled pixels are outside of the network's input`);
  });

  it('takes classes that the network chose, from the nearest cell', async () => {
    const model = join(folder.path, 'chosen.onnx');
    const text = `<ir_version: 8, opset_import: ["": 17]> g (float[1, 3, 24, 32] image) => (int64[1, 24, 32] classes) {
      classes = ArgMax<axis = 1, keepdims = 0>(image) }`;
    await writeModel(model, parseModelText(text));
    const { metrics, report } = await run({ ...NAMES, classes: ['r', 'g', 'b', 'x', 'y'] }, { model });
    const predicted = (report.classes as { predicted: number }[]).map(one => one.predicted);
    expect(predicted.slice(3)).toEqual([0, 0]);
    expect(predicted.slice(0, 3).every(pixels => pixels > 400)).toBe(true);
    expect(metrics.pixels).toBe(1848);
  });

  it.each([
    // Modulo 2³² it would be class 1.
    ['beyond 32 bits', '4294967297'],
    ['that would need arrays of gigabytes', '2000000000'],
    ['that stands for pixels outside of the input', '-1'],
    ['below zero', '-2'],
  ])('refuses a class %s', async (_what, label) => {
    const model = join(folder.path, 'class.onnx');
    const text = `<ir_version: 8, opset_import: ["": 17]> g (float[1, 3, 24, 32] image) => (int64[1, 24, 32] classes)
      <int64[1] label = {${label}}> { chosen = ArgMax<axis = 1, keepdims = 0>(image)  zero = Sub(chosen, chosen)  classes = Add(zero, label) }`;
    await writeModel(model, parseModelText(text));
    const message = expect.stringContaining(`output "classes" has the class ${label}, expected classes from 0 to 65535`);
    expect(await failureOf(() => run(NAMES, { model }))).toMatchObject({ code: 'pixel-scores', message });
  });

  const absent = async (): Promise<Record<string, string>> => {
    const masks = join(folder.path, 'few');
    await mkdir(masks, { recursive: true });
    await copyFile(fixturePath('segmentation/masks/a_ids.png'), join(masks, 'a_ids.png'));
    return { masks };
  };
  const listed = async (): Promise<Record<string, string>> => {
    await writeFile(join(folder.path, 'list.txt'), 'zebra\n');
    return { list: join(folder.path, 'list.txt') };
  };
  const swapped = async (): Promise<Record<string, string>> => {
    const masks = join(folder.path, 'swapped');
    await mkdir(masks, { recursive: true });
    for (const name of ['a', 'b', 'c']) await copyFile(fixturePath('segmentation/masks/b_ids.png'), join(masks, `${name}_ids.png`));
    return { masks };
  };
  const none = async (): Promise<Record<string, string>> => ({});
  const other = async (): Promise<Record<string, string>> => {
    const baseline = join(folder.path, 'other.json');
    await writeFile(baseline, JSON.stringify({ top1: 1 } satisfies Json));
    return { baseline };
  };

  it.each<[string, JsonObject, () => Promise<Record<string, string>>, string, RegExp]>([
    ['masks of other names', {}, none, 'masks-missing', /3 of 3 images have no mask, for example "a_rgb.png": there is no "a_rgb.png"/],
    ['names without the stated end', { maskNames: { from: '_left' } }, none, 'masks-missing', /does not end in "_left"/],
    ['missing masks', NAMES, absent, 'masks-missing', /2 of 3 images/],
    ['a list of other images', NAMES, listed, 'list-unknown', /names no image/],
    ['masks of another size', NAMES, swapped, 'mask-size', /has 20×24 pixels, its image 32×24/],
    [
      'a number that is no class',
      { ...NAMES, ignore: [] },
      none,
      'mask-class',
      /has the number 255 at x 0, y 0: class 255, but the model has 5/,
    ],
    ['only ignored pixels', { ...NAMES, ignore: [0, 1, 2, 3, 4, 255] }, none, 'no-labeled-pixels', /no pixel/],
    ['names of other classes', { ...NAMES, classes: ['a', 'b'] }, none, 'class-count', /the model has 5 classes, but `classes` has 2/],
    ['an unknown output', { ...NAMES, output: 'z' }, none, 'class-output', /no output "z"/],
    ['a baseline of a classifier', NAMES, other, 'baseline-metrics', /not the metrics of an `evaluate-segmentation`/],
  ])('refuses %s', async (_what, params, give, code, message) => {
    const inputs = await give();
    expect(await failureOf(() => run(params, inputs))).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});
