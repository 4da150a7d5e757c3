/** `widen-types` with `judge: detections` on a small grid detector: against distances that are measured through `quantize`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { measureDetectionError } from '../../../src/detection/compare/detection-error.js';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { openDetector } from '../../../src/detection/open-detector.js';
import { readDefinition } from '../../../src/detection/read-definition.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { readJsonFile, writeJsonFile } from '../../../src/stage/json-file.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { capture } from '../../../stages/capture/stage.js';
import { correctBiases } from '../../../stages/correct-biases/stage.js';
import { describe as describeStage } from '../../../stages/describe/stage.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { widenTypes } from '../../../stages/widen-types/stage.js';
import { failureOf } from '../../support/error-code.js';
import { makeJpeg } from '../../support/make-jpeg.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { integers, randomConstants, smallModel } from '../../support/small-model.js';
import { storingMemo } from '../../support/storing-memo.js';

const IMAGES = [1, 2, 3];
const QUANTIZE = { preset: 'a8w8-per-channel', qdqDomain: 'com.microsoft' };

const folder = givenFolder('widen-detections');
const memo = storingMemo(folder);
const at = (name: string): string => join(folder.path, name);
let inputs: Record<string, string | Record<string, string>>;

/** 16 cells of 8 pixels, each with a box, a score of an object, and two classes. */
const network = () =>
  smallModel({
    inputs: { image: ['float32', [1, 3, 32, 32]] },
    constants: {
      ...randomConstants({ w1: [8, 3, 4, 4], b1: [8], w2: [8, 8, 1, 1], b2: [8], w3: [7, 8, 2, 2], b3: [7] }),
      shape: integers([1, 7, 16]),
    },
    nodes: [
      { op: 'Conv', name: 'one', in: ['image', 'w1', 'b1'], out: ['c1'], attributes: { strides: { kind: 'ints', value: [4n, 4n] } } },
      { op: 'Relu', in: ['c1'], out: ['r1'] },
      { op: 'Conv', name: 'two', in: ['r1', 'w2', 'b2'], out: ['c2'] },
      { op: 'Relu', in: ['c2'], out: ['r2'] },
      { op: 'Conv', name: 'three', in: ['r2', 'w3', 'b3'], out: ['c3'], attributes: { strides: { kind: 'ints', value: [2n, 2n] } } },
      { op: 'Sigmoid', in: ['c3'], out: ['s'] },
      { op: 'Reshape', in: ['s', 'shape'], out: ['rows'] },
      { op: 'Transpose', in: ['rows'], out: ['output'], attributes: { perm: { kind: 'ints', value: [0n, 2n, 1n] } } },
    ],
    outputs: ['output'],
  });

beforeAll(async () => {
  await mkdir(at('images'));
  const model = at('float.onnx');
  await writeModel(model, network());
  for (const id of IMAGES) await writeFile(at(`images/${id}.jpg`), await makeJpeg(32, 32, id));
  await writeJsonFile(at('images.json'), {
    images: IMAGES.map(id => ({ id, file_name: `${id}.jpg`, width: 32, height: 32 })),
    annotations: [],
    categories: [
      { id: 1, name: 'cat' },
      { id: 2, name: 'dog' },
    ],
  });
  const own = { folder: folder.path };
  const described = await runStage(describeStage, {
    params: {
      decoder: { grid: { output: 'output', strides: [8], boxes: { form: 'exp' }, objectness: { channel: 4 }, classes: { channel: 5 } } },
      categories: ['cat', 'dog'],
      scoreThreshold: 0.01,
    },
    inputs: { model },
    ...own,
  });
  const recipe = described.outputs.recipe ?? '';
  const captured = await runStage(capture, { params: {}, inputs: { detector: { model }, recipe, images: at('images') }, ...own });
  const calibrated = await runStage(calibrate, { params: {}, inputs: { model, recipe, images: at('images') }, ...own });
  inputs = {
    model,
    recipe,
    captured: captured.outputs.captured ?? '',
    sketches: calibrated.outputs.sketches ?? '',
    data: { annotations: at('images.json'), images: at('images') },
  };
});
beforeEach(() => memo.forget());

async function run(params: JsonObject, more: Partial<Parameters<typeof runStage>[1]> = {}) {
  const { outputs } = await runStage(widenTypes, {
    params: { quantize: QUANTIZE, judge: 'detections', ...params },
    inputs,
    folder: folder.path,
    memo: memo.memo,
    ...more,
  });
  return {
    overrides: outputs.overrides ?? '',
    report: (await readJsonFile(outputs.report ?? '')) as {
      readonly narrow: { readonly detections: number };
      readonly found: {
        readonly figures: { readonly detections: number };
        readonly shares: { readonly cost: number; readonly tensors: number };
      };
      readonly members: readonly { readonly tensors: readonly string[] }[];
    },
  };
}

/** The objects of every image. */
async function detect(model: string) {
  const detector = await openDetector(
    { definition: readDefinition({ recipe: await readJsonFile(String(inputs.recipe)) }), models: { kind: 'parts', parts: { model } } },
    { optimization: 'all' },
  );
  const found = [];
  for (const id of IMAGES)
    found.push((await detector.trace(await decodeImage(await readFile(at(`images/${id}.jpg`)), `${id}.jpg`))).objects);
  await detector.close();
  return found;
}

/** Of the model that `quantize` makes with these overrides. */
async function distanceOf(overrides?: string, biases: 'kept' | 'corrected' = 'kept'): Promise<number> {
  const { outputs } = await runStage(quantize, {
    params: QUANTIZE,
    inputs: { model: String(inputs.model), sketches: String(inputs.sketches), ...(overrides === undefined ? {} : { overrides }) },
    folder: folder.path,
  });
  const [float, int8] = [
    await detect(String(inputs.model)),
    await detect(biases === 'kept' ? (outputs.model ?? '') : await correct(outputs.model ?? '')),
  ];
  const sums = float.map((objects, image) => measureDetectionError(objects, int8[image] ?? objects));
  return sums.reduce((sum, { error }) => sum + error, 0) / sums.reduce((sum, { signal }) => sum + signal, 0);
}

async function correct(model: string): Promise<string> {
  const { outputs } = await runStage(correctBiases, {
    params: {},
    inputs: { model, float: String(inputs.model), captured: String(inputs.captured) },
    folder: folder.path,
  });
  return outputs.model ?? '';
}

it('the set has the distance of the model that `quantize` makes', async () => {
  const { overrides, report } = await run({ constraint: { share: 0.6 } });
  // The simulated model and that of the stage are run at the same level of optimization, but for exact sums of integers.
  expect(report.narrow.detections).toBeCloseTo(await distanceOf(), 5);
  expect(report.found.figures.detections).toBeCloseTo(await distanceOf(overrides), 5);
  expect(report.found.figures.detections).toBeLessThan(report.narrow.detections);
  expect(report.found.shares.cost).toBeLessThanOrEqual(0.6);
  expect(report.members.length).toBeGreaterThan(0);
});

it('with corrected biases a trial has the distance of the model that `quantize` and `correct-biases` make', async () => {
  const { overrides, report } = await run({ constraint: { share: { cost: 0.9, tensors: 0.5 } }, biases: 'corrected' });
  expect(report.found.figures.detections).toBeCloseTo(await distanceOf(overrides, 'corrected'), 5);
  expect(report.found.figures.detections).not.toBeCloseTo(await distanceOf(overrides), 5);
});

it('the number of wider tensors is bounded too', async () => {
  const all = await run({ constraint: { share: { cost: 0.9 } } });
  const { members, found } = (await run({ constraint: { share: { cost: 0.9, tensors: 0.4 } } })).report;
  expect(members.length).toBeLessThan(all.report.members.length);
  expect(found.shares.tensors).toBeLessThanOrEqual(0.4);
  expect(members.length).toBeGreaterThan(0);
});

it('trials are kept', async () => {
  await run({ constraint: { share: 0.6 } });
  expect(memo.computed).toEqual([]);
});

it('without any detection of the float model nothing is judged', async () => {
  const recipe = at('strict.json');
  const own = (await readJsonFile(String(inputs.recipe))) as { readonly selection: JsonObject };
  await writeJsonFile(recipe, { ...own, selection: { ...own.selection, scoreThreshold: 1 } });
  const failure = await failureOf(() => run({ constraint: { share: 0.6 } }, { inputs: { ...inputs, recipe } }));
  expect(failure).toMatchObject({ code: 'no-detections', message: expect.stringContaining('nothing in 3 images') });
});
