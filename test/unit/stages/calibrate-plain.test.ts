/** Calibration of models without a detector: images, arrays, ONNX tensors and captures of them give equal bytes. */
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { int, ints } from '../../../src/onnx/ir/attribute.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { encodeNpz } from '../../../src/tensor/formats/npz.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { capture } from '../../../stages/capture/stage.js';
import { verify } from '../../../stages/verify/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { SHAPES_FOLDER } from '../../support/shapes.js';
import { floats, randomConstant, smallModel } from '../../support/small-model.js';

const folder = givenFolder('calibrate-plain');
let model: string;
let images: string;
let tensors: string;

const PHOTOS = join(SHAPES_FOLDER, 'data/calib');
const [FIRST, SECOND] = ['000000005000.jpg', '000000005007.jpg'] as const;
const PREPROCESS = { colors: 'bgr', range: '0..255', mean: [100, 110, 120], std: [50, 60, 70] };

const net = (input: [number, number, number | string, number]) =>
  smallModel({
    inputs: { x: ['float32', input] },
    constants: { w: randomConstant([2, 3, 3, 3], 7) },
    nodes: [{ op: 'Conv', in: ['x', 'w'], out: ['y'], attributes: { strides: ints([2, 2]) } }],
    outputs: ['y'],
  });

beforeAll(async () => {
  [images, tensors, model] = ['images', 'tensors', 'net.onnx'].map(name => join(folder.path, name)) as [string, string, string];
  await mkdir(join(images, 'inner'), { recursive: true });
  await mkdir(tensors);
  await copyFile(join(PHOTOS, FIRST), join(images, 'b.jpg'));
  await copyFile(join(PHOTOS, SECOND), join(images, 'inner/a.jpg'));
  const sizes: [number, number][] = [];
  for (const [index, name] of [FIRST, SECOND].entries()) {
    const image = await decodeImage(await readFile(join(PHOTOS, name)), name);
    sizes.push([image.height, image.width]);
    await writeFile(join(tensors, `${index}.npz`), encodeNpz({ x: byHand(image) }));
  }
  const [[height, width] = [0, 0]] = sizes;
  expect(sizes[1]).toEqual([height, width]);
  await writeModel(model, net([1, 3, height, width]));
});

/** The preprocessing of PREPROCESS, in three loops. */
function byHand({ height, width, data }: { height: number; width: number; data: Uint8Array }): Tensor {
  const values = new Float32Array(3 * height * width);
  for (let channel = 0; channel < 3; channel++)
    for (let pixel = 0; pixel < height * width; pixel++)
      values[channel * height * width + pixel] =
        ((data[3 * pixel + 2 - channel] ?? 0) - (PREPROCESS.mean[channel] ?? 0)) / (PREPROCESS.std[channel] ?? 1);
  return makeTensor('float32', [1, 3, height, width], values);
}

async function sketch(inputs: InputPaths, params: JsonObject = {}) {
  const { outputs } = await runStage(calibrate, { params, inputs: { model, ...inputs }, folder: folder.path });
  const read = async (port: string) => readFile(outputs[port] ?? '', 'utf8');
  return { sketches: await read('sketches'), report: JSON.parse(await read('report')) as JsonObject };
}

describe('calibrate of a plain model', () => {
  it('images, arrays, and captures of both give the same bytes', async () => {
    const { sketches, report } = await sketch({ images }, { preprocess: PREPROCESS });
    expect(parseModelSketches(JSON.parse(sketches)).samples).toBe(2);
    expect(report).toMatchObject({
      part: 'model',
      samples: [
        { sample: '1', file: 'b.jpg', rows: 1 },
        { sample: '2', file: 'inner/a.jpg', rows: 1 },
      ],
    });
    expect((await sketch({ tensors })).sketches).toBe(sketches);
    const captured = async (params: JsonObject, inputs: InputPaths) =>
      (await runStage(capture, { params: { of: 'model', ...params }, inputs: { model, ...inputs }, folder: folder.path })).outputs
        .captured ?? '';
    expect((await sketch({ captured: await captured({ preprocess: PREPROCESS }, { images }) })).sketches).toBe(sketches);
    expect((await sketch({ captured: await captured({}, { tensors }) })).sketches).toBe(sketches);
  });

  it.each([
    [2, 2, ['1..2'], ''],
    [4, 2, ['1..2'], ', each image 2 times: a multiple of 4 images is taken once'],
    [3, 2, ['1..1', '2..2'], ', each image 3 times: a multiple of 3 images is taken once'],
  ])('a model of %d images at once measures %d images as one of one image does', async (batch, count, ids, often) => {
    const image = await decodeImage(await readFile(join(PHOTOS, FIRST)), FIRST);
    const path = join(folder.path, `batch-${batch}.onnx`);
    await writeModel(path, net([batch, 3, image.height, image.width]));
    const params = { samples: count, preprocess: PREPROCESS };
    const { outputs, log } = await runStage(calibrate, { params, inputs: { model: path, images }, folder: folder.path });
    const runs = `${count} images in ${ids.length} run${ids.length === 1 ? '' : 's'}`;
    expect(log).toContain(`info: the model takes ${batch} images at once: ${runs}${often}`);
    const report = JSON.parse(await readFile(outputs.report ?? '', 'utf8')) as { values: JsonObject[]; samples: JsonObject[] };
    expect(report.samples.map(({ sample }) => sample)).toEqual(ids);
    const one = (await sketch({ images }, params)).report as unknown as typeof report;
    const times = (ids.length * batch) / count;
    for (const [index, expected] of one.values.entries()) {
      const { count: elements, mean, standardDeviation, ...exact } = expected as Record<'count' | 'mean' | 'standardDeviation', number>;
      expect(report.values[index]).toMatchObject({ ...exact, count: elements * times });
      // Sums of several images are rounded otherwise than those of one.
      expect(report.values[index]?.mean).toBeCloseTo(mean, 10);
      expect(report.values[index]?.standardDeviation).toBeCloseTo(standardDeviation, 10);
    }
  });

  it('warns if a second input is given the same image, unless this is stated', async () => {
    const image = await decodeImage(await readFile(join(PHOTOS, FIRST)), FIRST);
    const path = join(folder.path, 'pair.onnx');
    const input = ['float32', [1, 3, image.height, image.width]] as const;
    await writeModel(
      path,
      smallModel({ inputs: { x: input, y: input }, nodes: [{ op: 'Sub', in: ['x', 'y'], out: ['z'] }], outputs: ['z'] }),
    );
    const warningsOf = async (preprocess: JsonObject) =>
      (await runStage(calibrate, { params: { samples: 1, preprocess }, inputs: { model: path, images }, folder: folder.path })).log.filter(
        line => line.startsWith('warning: input'),
      );
    expect(await warningsOf({})).toEqual([expect.stringContaining('input "y" is assumed to take the same image as "x"')]);
    expect(await warningsOf({ inputs: { y: 'image' } })).toEqual([]);
  });

  it('a model that prepares the image gives the sketch, the captured tensors and the comparison of images that are prepared by hand', async () => {
    const { mean, std } = PREPROCESS;
    const prepare = join(folder.path, 'prepare.onnx');
    const image = await decodeImage(await readFile(join(PHOTOS, FIRST)), FIRST);
    const nodes = [
      { op: 'Sub', in: ['photo', 'mean'], out: ['centered'] },
      { op: 'Div', in: ['centered', 'std'], out: ['x'] },
    ];
    const inputs = { photo: ['float32', [1, 3, image.height, image.width]] as const };
    await writeModel(
      prepare,
      smallModel({ inputs, constants: { mean: floats([1, 3, 1, 1], mean), std: floats([1, 3, 1, 1], std) }, nodes, outputs: ['x'] }),
    );
    const params = { preprocess: { colors: 'bgr', range: '0..255' } };
    const ofTensors = await sketch({ tensors });
    expect((await sketch({ images, prepare }, params)).sketches).toBe(ofTensors.sketches);
    const { outputs } = await runStage(capture, {
      params: { of: 'model', ...params },
      inputs: { model, images, prepare },
      folder: folder.path,
    });
    expect((await sketch({ captured: outputs.captured ?? '' })).sketches).toBe(ofTensors.sketches);
    const compare = { reference: 'model', candidate: 'model', samples: 2, ...params };
    const compared = await runStage(verify, {
      params: compare,
      inputs: { reference: model, candidate: model, images, prepare },
      folder: folder.path,
    });
    expect(JSON.parse(await readFile(compared.outputs.metrics ?? '', 'utf8'))).toMatchObject({ worst: { sqnrDb: 'equal' } });
  });

  it('a preparing model beside tensors, and one that gives another input, are refused', async () => {
    expect(await failureOf(() => sketch({ tensors, prepare: model }))).toMatchObject({
      code: 'data-source',
      message: '`prepare` makes inputs from images, but tensors are connected',
    });
    expect(await failureOf(() => sketch({ images, prepare: model }, { preprocess: PREPROCESS }))).toMatchObject({
      code: 'image-input',
      message: '`prepare` gives y, and the network takes x: none of them',
    });
  });

  it('bytes with channels last give the sketch of the activations that floats with channels first give', async () => {
    const bytes = join(folder.path, 'bytes.npz');
    const perm = ints([0, 3, 1, 2]);
    const image = await decodeImage(await readFile(join(PHOTOS, FIRST)), FIRST);
    const input: [number, number, number, number] = [1, image.height, image.width, 3];
    const path = join(folder.path, 'bytes.onnx');
    const w = randomConstant([2, 3, 3, 3], 7);
    const cast = { op: 'Cast', in: ['x'], out: ['f'], attributes: { to: int(1) } };
    const transpose = { op: 'Transpose', in: ['f'], out: ['t'], attributes: { perm } };
    const conv = { op: 'Conv', in: ['t', 'w'], out: ['y'], attributes: { strides: ints([2, 2]) } };
    await writeModel(
      path,
      smallModel({ inputs: { x: ['uint8', input] }, constants: { w }, nodes: [cast, transpose, conv], outputs: ['y'] }),
    );
    await writeFile(bytes, encodeNpz({ x: makeTensor('uint8', input, Uint8Array.from(image.data)) }));
    const fromImages = await sketch({ model: path, images }, { samples: 1, preprocess: {} });
    expect(fromImages.sketches).toBe((await sketch({ model: path, tensors: bytes })).sketches);
    const planes = await sketch({ images }, { samples: 1, preprocess: { range: '0..255' } });
    const outputOf = (text: string) => [...parseModelSketches(JSON.parse(text)).values.values()].find(({ name }) => name === 'y')?.sketch;
    expect(outputOf(fromImages.sketches)).toEqual(outputOf(planes.sketches));
  });

  it('the second pass of compat: ort finds every sample again', async () => {
    const params = { compat: 'ort', ortHistograms: [{ of: 'values', bins: 16 }] };
    const { sketches } = await sketch({ tensors }, params);
    expect((await sketch({ images }, { ...params, preprocess: PREPROCESS })).sketches).toBe(sketches);
    const left = (await readdir(folder.path, { recursive: true })).filter(path => path.endsWith('.npz') && path.includes('scratch-'));
    expect(left.filter(path => !path.includes('part-'))).toEqual([]);
  });

  it('samples limits the number of samples', async () => {
    expect((await sketch({ tensors }, { samples: 1 })).report).toMatchObject({ samples: [{ sample: '0.npz' }] });
  });

  it('verify compares two models on the same data', async () => {
    const params = { reference: 'model', candidate: 'model', samples: 2, thresholds: { maxAbs: 0 }, values: 'all' };
    const { outputs } = await runStage(verify, { params, inputs: { reference: model, candidate: model, tensors }, folder: folder.path });
    expect(JSON.parse(await readFile(outputs.report ?? '', 'utf8'))).toMatchObject({
      samples: ['0.npz', '1.npz'],
      values: { y: { maxAbs: 0 } },
      propagated: [{ part: 'model', samples: 2 }],
    });
  });

  it('NaN in a sample is an error that names sample and value', async () => {
    const broken = join(folder.path, 'broken');
    await mkdir(broken);
    const archive = byHand(await decodeImage(await readFile(join(PHOTOS, FIRST)), FIRST));
    (archive.data as Float32Array)[5] = Number.NaN;
    await writeFile(join(broken, 'a.npz'), encodeNpz({ x: archive }));
    const failure = await failureOf(() => sketch({ tensors: broken }));
    expect(failure.code).toBe('not-finite');
    expect(failure.message).toMatch(/^sample a\.npz: input "x" has 1 NaN/);
  });

  it.each<[string, () => InputPaths, JsonObject, string]>([
    ['images without preprocessing', () => ({ images }), {}, 'preprocess-missing'],
    ['no data', () => ({}), {}, 'data-source'],
    ['two sources', () => ({ images, tensors }), {}, 'data-source'],
    ['more samples than files', () => ({ tensors }), { samples: 3 }, 'too-few-samples'],
    ['a folder without images', () => ({ images: tensors }), { preprocess: {} }, 'no-images'],
    ['a folder without tensors', () => ({ tensors: images }), {}, 'no-samples'],
  ])('%s', async (_what, inputs, params, code) => {
    expect((await failureOf(() => sketch(inputs(), params))).code).toBe(code);
  });

  it('a model with a free height has no size for stretching images', async () => {
    const free = join(folder.path, 'free.onnx');
    await writeModel(free, net([1, 3, 'height', 8]));
    const failing = () =>
      runStage(calibrate, { params: { preprocess: { resize: 'stretch' } }, inputs: { model: free, images }, folder: folder.path });
    expect(await failureOf(failing)).toMatchObject({ code: 'input-size', message: expect.stringContaining('free height and width') });
  });
});
