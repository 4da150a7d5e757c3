/** Whole detectors in one graph, cut into the layers of known sizes and the rest: torchvision's own export, and a detector in four nodes. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { JsonObject } from '../../../src/base/json.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { isStatic } from '../../../src/onnx/shape-inference/context/dims.js';
import { inferShapes } from '../../../src/onnx/shape-inference/infer-shapes.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { readJsonFile, writeJsonFile } from '../../../src/stage/json-file.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { describe as describeStage } from '../../../stages/describe/stage.js';
import { evaluate } from '../../../stages/evaluate/stage.js';
import { importStage } from '../../../stages/import/stage.js';
import { SPLIT_REPORT_SCHEMA } from '../../../stages/split/report.js';
import { split } from '../../../stages/split/stage.js';
import { failureOf } from '../../support/error-code.js';
import { generatedInput } from '../../support/generated-weights.js';
import { readAs } from '../../support/read-as.js';
import { givenFolder, outputPorts, parseParams, runStage, type StageRun } from '../../support/run-stage.js';
import { SHAPES_FOLDER } from '../../support/shapes.js';

const folder = givenFolder('split-static');

const importAs = async (model: string, params: JsonObject): Promise<string> =>
  (await runStage(importStage, { params, inputs: { model }, folder: folder.path })).outputs.model ?? '';

const cut = (model: string, params: JsonObject = {}): Promise<StageRun> =>
  runStage(split, { params: { cuts: 'static', ...params }, inputs: { model }, folder: folder.path });

/** Runs a model on the values that it takes; adds what it gives. */
async function runOn(path: string | undefined, values: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>> {
  const session = await openSession(path ?? '', { optimization: 'basic' });
  const results = await session.run(Object.fromEntries(session.inputNames.map(name => [name, values[name] as Tensor])));
  await session.close();
  return { ...values, ...results };
}

/** A photo of the size that the model takes, as float32 [1, 3, height, width] of 0 to 1. */
async function readPhoto(path: string): Promise<Tensor<'float32'>> {
  const { data, info } = await sharp(path).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const area = info.height * info.width;
  const values = Float32Array.from({ length: 3 * area }, (_, index) => (data[3 * (index % area) + Math.floor(index / area)] ?? 0) / 255);
  return makeTensor('float32', [1, 3, info.height, info.width], values);
}

describe('a whole detector of torchvision', () => {
  it('takes a batch of 1, and its parts give the bits of the whole', async () => {
    const whole = await importAs(join(SHAPES_FOLDER, 'models/maskrcnn-shapes-torchvision.onnx'), { unbatched: 'batch' });
    const { outputs, log } = await cut(whole, { heads: ['box', 'mask'], prepare: 'model' });
    expect(log).toEqual([]);
    const { graph } = await readModel(whole);
    const [photo = ''] = graph.inputs.map(id => graph.values.get(id)?.name ?? '');
    const image = generatedInput('photo', [1, 3, 192, 256]);
    const expected = await runOn(whole, { [photo]: image });
    let values: Readonly<Record<string, Tensor>> = { [photo]: image };
    for (const name of ['prepare', 'network', 'to_box', 'box', 'to_mask', 'mask', 'rest']) values = await runOn(outputs[name], values);
    for (const id of graph.outputs) {
      const name = graph.values.get(id)?.name ?? '';
      expect(values[name]?.dims).toEqual(expected[name]?.dims);
      expect(values[name]?.data).toEqual(expected[name]?.data);
    }
    const network = await readModel(outputs.network ?? '');
    const types = inferShapes(network);
    expect([...network.graph.values.keys()].every(id => isStatic(types.get(id)?.dims))).toBe(true);
    const { dataDependent = [] } = await readAs(SPLIT_REPORT_SCHEMA, outputs.report);
    expect(dataDependent[0]).toMatch(/^NonZero /);

    const { box, to_box = '', mask, to_mask = '' } = outputs;
    const decoder = { detections: { scores: 'scores', boxes: 'boxes', classes: 'labels' } };
    const categories = Array.from({ length: 12 }, (_, id) => ({ id, name: `c${id}` }));
    const params = { preprocess: { resize: 'stretch' }, decoder, categories };
    const heads = { mask: mask ?? '', to_mask, to_box, box: box ?? '' };
    const { prepare = '', network: net = '', rest = '' } = outputs;
    const described = await runStage(describeStage, { params, inputs: { model: net, prepare, rest, heads }, folder: folder.path });
    const recipe = described.outputs.recipe ?? '';
    expect(await readJsonFile(recipe)).toMatchObject({
      heads: [
        { name: 'to_box' },
        { name: 'box', rois: { inputs: expect.anything(), outputs: expect.anything() } },
        { name: 'to_mask' },
        { name: 'mask' },
      ],
    });
    const data = { annotations: join(SHAPES_FOLDER, 'data/instances_val.json'), images: join(SHAPES_FOLDER, 'data/val') };
    const evaluated = await runStage(evaluate, {
      params: { iouTypes: ['bbox'], samples: 1 },
      inputs: { parts: { model: net, prepare, rest, ...heads }, recipe, data },
      folder: folder.path,
    });
    const found = (await readJsonFile(evaluated.outputs.detections ?? '')) as readonly { readonly score: number }[];
    const seen = await runOn(whole, { [photo]: await readPhoto(join(SHAPES_FOLDER, 'data/val/000000001000.jpg')) });
    const scores = Array.from(seen.scores?.data as Float32Array).filter(score => score > 0.05);
    expect(found.length).toBeGreaterThan(1);
    // Sessions at different optimization levels round differently.
    expect(found.map(({ score }) => score)).toEqual(scores.map(score => expect.closeTo(score, 4)));
  });
});

/** A score per cell of 8 × 8 pixels, red, and a box of one cell; what scores above 1/2 is found. Boxes are in pixels of the photo. */
const DETECTOR = `<ir_version: 8, opset_import: ["": 17]>
  g (float[3, 16, 16] photo) => (float[n, 4] boxes, float[n] scores, int64[n] labels)
  <float half = {0.5}, int64[1] first = {0}, int64[1] flat = {-1}, int64 zero = {0}, float[1, 3, 1, 1] w = {1, 0, 0}, int64[1] axis = {1},
   float[4, 4] cells = {0, 0, 8, 8, 8, 0, 16, 8, 0, 8, 8, 16, 8, 8, 16, 16}>
  {
    centered = Sub(photo, half)
    image = Unsqueeze(centered, first)
    small = AveragePool<kernel_shape = [8, 8], strides = [8, 8]>(image)
    red = Conv(small, w)
    all = Reshape(red, flat)
    above = Greater(all, zero_f)
    places = NonZero(above)
    which = Squeeze(places, first)
    boxes = Gather(cells, which)
    found = Gather(all, which)
    scores = Add(found, half)
    labels = Mul(which, zero)
  }`.replace('float half', 'float zero_f = {0}, float half');

describe('a detector that finds cells', () => {
  let imported: string;
  let cutRun: StageRun;
  beforeAll(async () => {
    const source = join(folder.path, 'detector.onnx');
    await writeModel(source, parseModelText(DETECTOR));
    imported = await importAs(source, { unbatched: 'batch' });
    cutRun = await cut(imported, { prepare: 'model' });
  });

  it('is evaluated with its network replaced, and calibrated where the network begins', async () => {
    const { prepare = '', network = '', rest = '' } = cutRun.outputs;
    const decoder = { detections: { scores: 'scores', boxes: 'boxes', classes: 'labels' } };
    const params = { preprocess: { resize: 'stretch' }, decoder, categories: [{ id: 7, name: 'red' }] };
    const described = await runStage(describeStage, { params, inputs: { model: network, prepare, rest }, folder: folder.path });
    const recipe = described.outputs.recipe ?? '';
    expect(await readJsonFile(recipe)).toMatchObject({
      parts: {
        prepare: { inputs: ['photo'], outputs: ['small'] },
        model: { inputs: ['small'], outputs: ['red'] },
        rest: { inputs: ['red'], outputs: ['scores', 'boxes', 'labels'] },
      },
    });
    const data = await writeData();
    const detector = { prepare, model: network, rest };
    const { outputs } = await runStage(evaluate, {
      params: { iouTypes: ['bbox'] },
      inputs: { parts: detector, recipe, data },
      folder: folder.path,
    });
    expect(await readJsonFile(outputs.detections ?? '')).toEqual([{ image_id: 1, category_id: 7, bbox: [16, 0, 16, 16], score: 1 }]);

    const inputs = { model: network, recipe, data };
    expect((await failureOf(() => runStage(calibrate, { params: { samples: 1 }, inputs, folder: folder.path }))).code).toBe(
      'detector-missing',
    );
    const { report = '' } = (await runStage(calibrate, { params: { samples: 1 }, inputs: { ...inputs, detector }, folder: folder.path }))
      .outputs;
    expect(JSON.stringify(await readJsonFile(report))).toContain('"small"');
  });

  it.each<[string, JsonObject, string]>([
    ['more heads are named than there are', { heads: ['box'] }, 'it has 0 heads, and `heads` names box'],
    ['later nodes read what precedes the network', { cut: 'late' }, 'nodes after the network read'],
    ['the model is one network', { cut: 'network' }, 'nothing follows its last layer'],
    ['no layer has known sizes', { cut: 'none' }, 'it has no layers of known sizes'],
  ])('says why it cannot be cut if %s', async (_, { cut: form, ...params }, message) => {
    const failure = await failureOf(async () => cut(await formOf(form), params));
    expect(failure).toMatchObject({ code: 'static-cut', message: expect.stringContaining(message) });
  });

  async function formOf(form: unknown): Promise<string> {
    if (form === undefined) return imported;
    if (form === 'network') return cutRun.outputs.network ?? '';
    const path = join(folder.path, `${String(form)}.onnx`);
    const late = DETECTOR.replace('Add(found, half)', 'Add(found, level)').replace(
      'boxes = ',
      'level = ReduceMean<keepdims = 0>(small) boxes = ',
    );
    const none = DETECTOR.replace('red = Conv(small, w)', 'red = Relu(small)').replaceAll('[1, 3, 1, 1]', '[1, 1, 1, 3]');
    await writeModel(path, parseModelText(form === 'late' ? late : none));
    return importAs(path, {});
  }

  it('declares its ports, and refuses params that contradict each other', () => {
    const ports = (params: JsonObject): readonly string[] => Object.keys(outputPorts(split, parseParams(split, params)));
    expect(ports({ cuts: 'static' })).toEqual(['network', 'rest', 'report']);
    expect(ports({ cuts: 'static', heads: ['box'], prepare: 'model' })).toEqual(['prepare', 'network', 'to_box', 'box', 'rest', 'report']);
    expect(() => parseParams(split, { cuts: 'static', recipe: 'maskrcnn' })).toThrow('remove `recipe` and `parts`');
    expect(() => parseParams(split, { cuts: 'static', heads: ['rest'] })).toThrow('gives two parts the name `rest`');
    expect(() => parseParams(split, { recipe: 'maskrcnn', prepare: 'model' })).toThrow('need `cuts: static`');
  });

  it('refuses parts that do not belong together', async () => {
    const decoder = { detections: { scores: 'scores', boxes: 'boxes', classes: 'labels' } };
    const inputs = { model: cutRun.outputs.prepare ?? '', rest: cutRun.outputs.rest ?? '' };
    const failure = await failureOf(() =>
      runStage(describeStage, { params: { decoder, categories: ['red'] }, inputs, folder: folder.path }),
    );
    expect(failure).toMatchObject({ code: 'parts-apart', message: expect.stringContaining('"red"') });
  });
});

/** One image of 32 × 32 pixels whose upper right quarter is red. */
async function writeData(): Promise<Record<string, string>> {
  const images = join(folder.path, 'images');
  const annotations = join(folder.path, 'instances.json');
  await mkdir(images);
  const quarter = await sharp({ create: { width: 16, height: 16, channels: 3, background: '#ff0000' } })
    .png()
    .toBuffer();
  await sharp({ create: { width: 32, height: 32, channels: 3, background: '#000000' } })
    .composite([{ input: quarter, left: 16, top: 0 }])
    .png()
    .toFile(join(images, 'quarter.png'));
  await writeJsonFile(annotations, {
    images: [{ id: 1, file_name: 'quarter.png', width: 32, height: 32 }],
    categories: [{ id: 7, name: 'red' }],
    annotations: [{ id: 1, image_id: 1, category_id: 7, bbox: [16, 0, 16, 16], area: 256, iscrowd: 0 }],
  });
  return { annotations, images };
}
