/** The stage `describe`: recipes of single networks, errors. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { readDefinition } from '../../../src/detection/read-definition.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { describe as describeStage } from '../../../stages/describe/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, parseParams, runStage } from '../../support/run-stage.js';

const MODEL = `
agraph (float[1, 3, 16, 32] image) => (float[1, 10, 7] y, int64[1] n) <float[1, 10, 7] zero = {${Array(70).fill(0).join(', ')}}, int64[1] one = {1}>
{
  s = ReduceSum<keepdims = 0>(image)
  y = Add(zero, s)
  n = Identity(one)
}`;

const GRID: JsonObject = { output: 'y', strides: [8, 16], boxes: { form: 'exp' }, objectness: { channel: 4 }, classes: { channel: 5 } };
const PARAMS: JsonObject = { decoder: { grid: GRID }, categories: ['cat', 'dog'] };

const folder = givenFolder('describe');
let model: string;

beforeAll(async () => {
  model = join(folder.path, 'model.onnx');
  await writeModel(model, parseModelText(MODEL));
});

async function run(params: JsonObject, inputs: Readonly<Record<string, string>> = {}) {
  const { outputs, log } = await runStage(describeStage, { params, inputs: { model, ...inputs }, folder: folder.path });
  return { recipe: await readJsonFile(outputs.recipe ?? ''), log };
}

describe('describe', () => {
  it('writes a recipe that is one of a detector with the part "model"', async () => {
    const { recipe, log } = await run(PARAMS);
    const definition = readDefinition({ recipe });
    expect(definition.files).toEqual({ recipe });
    expect(definition.parts).toEqual([
      { name: 'model', values: { inputs: ['image'], outputs: ['y'] }, rois: 'none', inputs: { image: [1, 3, 16, 32] } },
    ]);
    expect([...definition.categories]).toEqual([
      [1, 'cat'],
      [2, 'dog'],
    ]);
    expect(recipe).toMatchObject({
      image: { value: 'image', height: 16, width: 32, preprocess: { resize: 'none' } },
      decoder: { kind: 'grid', objectness: { channel: 4, power: 1, activation: 'none' } },
      selection: { nms: { threshold: 0.5, classes: 'each' }, scoreThreshold: 0.05, perImage: 100 },
    });
    expect(log).toEqual([]);
  });

  it('categories: coco gives 80 categories; a detector with finished detections needs no suppression', async () => {
    const params = { categories: 'coco', decoder: { detections: { scores: 'y', boxes: 'y', classes: 'n' } } };
    const failing = await failureOf(() => run(params));
    expect(failing).toMatchObject({ code: 'decoder-shape', message: 'output "y" is [1, 10, 7]; the decoder expects [any]' });
  });

  it('categories: coco-ids numbers classes by the ids of COCO', async () => {
    const decoder = { module: {} };
    const source = join(folder.path, 'none.js');
    await writeFile(source, 'export const decode = () => ({ boxes: [], scores: [], classes: [] });\n');
    const { recipe: numbered } = await run({ decoder, categories: 'coco-ids' }, { decoder: source });
    const { categories } = numbered as { readonly categories: readonly { readonly id: number; readonly name: string }[] };
    expect(categories).toHaveLength(91);
    expect([categories[1], categories[12], categories[90]]).toEqual([
      { id: 1, name: 'person' },
      { id: 12, name: 'id 12' },
      { id: 90, name: 'toothbrush' },
    ]);
  });

  it('finds the decoder by the outputs, and logs what it assumes', async () => {
    const path = join(folder.path, 'rows.onnx');
    const text = `g (float[1, 3, 64, 64] image) => (float[1, 6, 84] rows) <int64[3] shape = {1, 6, 84}, float[1, 504] w = {${Array(504).fill(0).join(', ')}}> {
      s = ReduceSum<keepdims = 1>(image) f = Flatten(s) m = MatMul(f, w) rows = Reshape(m, shape) }`;
    await writeModel(path, parseModelText(text));
    const params = { decoder: { found: {} }, categories: ['cat', 'dog'] };
    const { recipe, log } = await run(params, { model: path });
    expect(recipe).toMatchObject({ decoder: { kind: 'grid', boxes: { form: 'center' }, classes: { channel: 4 } } });
    expect(log).toEqual([
      expect.stringMatching(/^info: the decoder is assumed by the outputs: rows of cx cy w h .* as of YOLOv8, v9 and v11; 2 classes: /),
    ]);
    expect(await failureOf(() => run(params))).toMatchObject({
      code: 'decoder-unknown',
      message: 'no form of decoder fits the outputs "y" [1, 10, 7], "n" [1]',
    });
  });

  it('names the column that is an angle instead of guessing a decoder', async () => {
    const path = join(folder.path, 'rotated.onnx');
    const text = `g (float[1, 3, 64, 64] image) => (float[1, 7, 84] rows) <int64[3] shape = {1, 7, 84}, int64[3] sizes = {4, 2, 1}, float[1, 588] w = {${Array(588).fill(0).join(', ')}}> {
      i = ReduceSum<keepdims = 1>(image) f = Flatten(i) p = MatMul(f, w) r = Reshape(p, shape) b, s, a = Split<axis = 1>(r, sizes)
      c = Cos(a) m = Mul(b, c) rows = Concat<axis = 1>(m, s, a) }`;
    await writeModel(path, parseModelText(text));
    const params = { decoder: { found: {} }, categories: ['ship', 'plane'] };
    expect(await failureOf(() => run(params, { model: path }))).toMatchObject({
      code: 'decoder-unknown',
      message:
        'column 6 (counted from 0) of the 7 of output "rows" is an angle: the network computes its sine or cosine, so its boxes are rotated, which no built-in form is',
      help: 'connect a decoder of your own, such as docs/decoders/yolo-obb.js: docs/decoders.md',
    });
  });

  it('puts the text of a decoder module into the recipe, so that a changed text changes the recipe', async () => {
    const decoder = join(folder.path, 'mine.js');
    const source = 'export const decode = () => ({ boxes: [], scores: [], classes: [] });\n';
    await writeFile(decoder, source);
    const params = { categories: ['cat'], decoder: { module: { options: { a: [1] } } } };
    const { recipe } = await run(params, { decoder });
    expect(recipe).toMatchObject({
      decoder: { kind: 'module', name: 'mine.js', source, outputs: ['y', 'n'], options: { a: [1] } },
      parts: { model: { outputs: ['y', 'n'] } },
    });
    await writeFile(decoder, 'export const decode = () => 3;\n');
    expect(await failureOf(() => run(params, { decoder }))).toMatchObject({ code: 'decoder-result' });
  });

  it.each<[string, JsonObject, string, RegExp]>([
    ['an unknown output', { ...PARAMS, decoder: { grid: { ...GRID, output: 'z' } } }, 'decoder-output', /^the model has no output "z"/],
    ['categories that are not as many as the channels', { ...PARAMS, categories: ['cat', 'dog', 'cow'] }, 'decoder-shape', /\[1, 10, 8\]/],
    ['strides of other cells', { ...PARAMS, decoder: { grid: { ...GRID, strides: [8] } } }, 'decoder-shape', /\[1, 8, 7\]/],
  ])('refuses %s before any model runs', async (_what, params, code, message) => {
    expect(await failureOf(() => run(params))).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it.each<[string, JsonObject, RegExp]>([
    ['no decoder', { ...PARAMS, decoder: {} }, /decoder needs exactly one kind, it has none/],
    ['two decoders', { ...PARAMS, decoder: { grid: GRID, module: {} } }, /it has grid, module/],
    [
      'no strides',
      { ...PARAMS, decoder: { grid: { output: 'y', boxes: { form: 'exp' }, classes: { channel: 4 } } } },
      /strides is required/,
    ],
    ['a duplicate id', { ...PARAMS, categories: ['cat', { id: 1, name: 'dog' }] }, /categories has the duplicate id 1/],
    ['an unknown setting', { ...PARAMS, decoder: { grid: { ...GRID, stride: 8 } } }, /additional properties/],
  ])('%s is an error of the pipeline file', (_what, params, message) => {
    expect(() => parseParams(describeStage, params)).toThrow(message);
  });

  it('refuses a config and a fit policy', async () => {
    const { recipe } = await run(PARAMS);
    expect(await failureOf(() => readDefinition({ recipe, config: {} }))).toMatchObject({ code: 'config-mismatch' });
    expect(await failureOf(() => readDefinition({ recipe, fit: 'static' }))).toMatchObject({ code: 'config-mismatch' });
  });

  it('a model of free size is described, with a warning that the decoder was not tried', async () => {
    const free = join(folder.path, 'free.onnx');
    await writeModel(free, parseModelText(MODEL.replace('float[1, 3, 16, 32]', 'float[1, 3, h, w]')));
    const { recipe, log } = await run({ ...PARAMS, preprocess: { resize: 'shorter', shorterSide: 8 } }, { model: free });
    expect(recipe).toMatchObject({ image: { height: 'free', width: 'free' } });
    expect(log).toEqual([expect.stringMatching(/the model has free sizes/)]);
  });
});
