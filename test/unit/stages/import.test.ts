/** The stage `import`: sizes, cuts, operator sets, external data, errors. */
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { formatDims } from '../../../src/onnx/shape-inference/context/node-context.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { importStage } from '../../../stages/import/stage.js';
import { failureOf } from '../../support/error-code.js';
import { operators } from '../../support/look-at-model.js';
import { givenFolder, outputPorts, parseParams, runStage } from '../../support/run-stage.js';

const folder = givenFolder('import');
let count = 0;

interface Imported {
  readonly model: Model;
  readonly bytes: Buffer;
  readonly report: JsonObject;
}

/** Dims of the text form without a name get the name "?", as some exporters write it. */
async function importText(text: string, params: JsonObject = {}): Promise<Imported> {
  const path = join(folder.path, `model-${count++}.onnx`);
  const model = parseModelText(text);
  for (const value of model.graph.values.values()) {
    if (value.type?.kind === 'tensor') value.type = { ...value.type, dims: value.type.dims?.map(dim => dim ?? '?') };
  }
  await writeModel(path, model);
  return importFile(path, params);
}

async function importFile(path: string, params: JsonObject, inputs: Record<string, string> = {}): Promise<Imported> {
  const { outputs } = await runStage(importStage, { params, inputs: { model: path, ...inputs }, folder: folder.path });
  const [model, bytes] = [await readModel(outputs.model ?? ''), await readFile(outputs.model ?? '')];
  return { model, bytes, report: (await readJsonFile(outputs.report ?? '')) as JsonObject };
}

function ends({ graph }: Model, side: 'inputs' | 'outputs'): string[] {
  return graph[side].map(id => {
    const value = graph.values.get(id);
    return `${value?.name} ${formatDims(value?.type?.kind === 'tensor' ? value.type.dims : undefined)}`;
  });
}

/** Sizes by name, a flattening with a computed shape, and a branch of shape nodes as torch writes them. */
const DYNAMIC = `<ir_version: 8, opset_import: ["": 13]>
  g (float[batch, 3, height, width] image) => (float[batch, features] y)
  <int64 zero = {0}, int64[1] axis = {0}, int64[1] rest = {-1}>
  {
    r = Relu(image)
    s = Shape(r)
    n = Gather(s, zero)
    v = Unsqueeze(n, axis)
    c = Concat<axis = 0>(v, rest)
    y = Reshape(r, c)
  }`;

/** (x − 2) / 4, then a convolution. */
const NORMALISING = `<ir_version: 8, opset_import: ["": 17]>
  g (float[1, 1, 4, 4] pixels) => (float[1, 1, 4, 4] y, float[1, 1, 4, 4] z)
  <float two = {2}, float four = {4}, float[1, 1, 1, 1] w = {3}>
  {
    centered = Sub(pixels, two)
    scaled = Div(centered, four)
    y = Conv(scaled, w)
    z = Neg(y)
  }`;

describe('import', () => {
  it('pins sizes by name, and folds the shapes that follow', async () => {
    const { model, report } = await importText(DYNAMIC, { dims: { height: 4, width: 5 } });
    expect(ends(model, 'inputs')).toEqual(['image [1, 3, 4, 5]']);
    expect(ends(model, 'outputs')).toEqual(['y [1, 60]']);
    expect(operators(model)).toEqual(['Relu', 'Reshape']);
    expect(report).toMatchObject({
      pinned: [{ input: 'image', before: '[batch, 3, height, width]', after: '[1, 3, 4, 5]' }],
      converted: { from: 13, to: 17, steps: [] },
      before: { nodes: 6 },
      after: { nodes: 2, operators: { Relu: 1, Reshape: 1 } },
      proof: { class: 'exact', samples: 1, outputs: { y: { differentBits: 0, elements: 60 } } },
    });
  });

  it('pins a whole shape, and keeps requested sizes free', async () => {
    const { model } = await importText(DYNAMIC, { shapes: { image: ['free', 3, 4, 5] } });
    expect(ends(model, 'inputs')).toEqual(['image [batch, 3, 4, 5]']);
    expect(operators(model)).toEqual(['Relu', 'Reshape']);
  });

  it('gives one name several sizes, by input', async () => {
    const text = `<ir_version: 8, opset_import: ["": 17]>
      g (float[N, 3] a, float[N, 3] b, float[M, N] c) => (float[N, 3] y, float[N, N] z) { y = Concat<axis = 0>(a, b) z = Neg(c) }`;
    const shapes = { a: [2, 3], b: [4, 3] };
    expect((await failureOf(() => importText(text, { shapes, dims: { M: 5 } }))).message).toContain('"c" [5, c_dim_1]');
    const { model, report } = await importText(text, { shapes: { ...shapes, c: [5, 'free'] } });
    expect(ends(model, 'inputs')).toEqual(['a [2, 3]', 'b [4, 3]', 'c [5, c_dim_1]']);
    expect(ends(model, 'outputs')).toEqual(['y [6, 3]', 'z [5, c_dim_1]']);
    expect(report).toMatchObject({ proof: { outputs: { y: { differentBits: 0, elements: 18 }, z: { differentBits: 0 } } } });
  });

  it('takes equal names in an image for unknown sizes, and pins the batch alone', async () => {
    const text = `<ir_version: 8, opset_import: ["": 17]> g (float[?, 3, ?, ?] x, float[N, 3, N, N] z) => (float[?, 3, ?, ?] y, float[N, 3, N, N] w) { y = Neg(x) w = Neg(z) }`;
    const failure = await failureOf(() => importText(text));
    expect(failure.message).toContain('"x" [1, 3, ?, ?], "z" [1, 3, z_dim_2, z_dim_3]');
    const { model } = await importText(text, { shapes: { x: [1, 3, 4, 5], z: [1, 3, 6, 7] } });
    expect(ends(model, 'outputs')).toEqual(['y [1, 3, 4, 5]', 'w [1, 3, 6, 7]']);
  });

  it.each<[string, JsonObject, string, string]>([
    ['sizes are left free', {}, 'free-dims', '"image" [1, 3, height, width]'],
    ['a name is unknown', { dims: { hight: 4, width: 5 } }, 'pin-unknown', 'no free dim "hight" (did you mean "height"?)'],
    ['an input is unknown', { shapes: { imag: [1] } }, 'pin-unknown', 'no input "imag" (did you mean "image"?)'],
    ['a fixed size is set to another one', { shapes: { image: [1, 4, 4, 5] } }, 'pin-mismatch', 'dim 1 is 3'],
    ['the number of dimensions is another', { shapes: { image: [1, 3, 4] } }, 'pin-mismatch', 'its rank is 4'],
    ['one name has two sizes', { shapes: { image: [1, 3, 4, 5] }, dims: { height: 8 } }, 'pin-mismatch', 'dim "height" is already 8'],
  ])('fails with a message if %s', async (_, params, code, message) => {
    const failure = await failureOf(() => importText(DYNAMIC, params));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(message);
  });

  it('cuts off preprocessing and an output', async () => {
    const { model, report } = await importText(NORMALISING, { cut: { inputs: ['scaled'], outputs: ['y'] } });
    expect(operators(model)).toEqual(['Conv']);
    expect(ends(model, 'inputs')).toEqual(['scaled [1, 1, 4, 4]']);
    expect(report).toMatchObject({
      removed: { inputs: ['pixels'], outputs: ['z'], nodes: 3 },
      proof: { outputs: { y: { differentBits: 0 } } },
    });
  });

  it('cuts only one side', async () => {
    expect(operators((await importText(NORMALISING, { cut: { outputs: ['scaled'] } })).model)).toEqual(['Sub', 'Div']);
    const { model } = await importText(NORMALISING, { cut: { inputs: ['scaled'] } });
    expect(ends(model, 'outputs')).toEqual(['y [1, 1, 4, 4]', 'z [1, 1, 4, 4]']);
  });

  it('pins a value of unknown size that the cut makes an input', async () => {
    const text = `<ir_version: 8, opset_import: ["": 17]> g (float[1, 3, 4, 4] x, int64[4] sizes) => (float[] y) { r = Reshape(x, sizes) y = Relu(r) }`;
    expect((await failureOf(() => importText(text, { cut: { inputs: ['r'] } }))).code).toBe('free-dims');
    const { model } = await importText(text, { cut: { inputs: ['r'] }, shapes: { r: [1, 3, 2, 8] } });
    expect(ends(model, 'outputs')).toEqual(['y [1, 3, 2, 8]']);
  });

  it('converts only the remaining nodes', async () => {
    const text = `<ir_version: 8, opset_import: ["": 7]> g (float[1, 1, 2, 2] x) => (float[] y) <float[1] s = {1}>
      { n = BatchNormalization<spatial = 0>(x, s, s, s, s) y = Clip<min = 0.0>(n) }`;
    expect((await failureOf(() => importText(text))).code).toBe('opset-conversion');
    const { model, report } = await importText(text, { cut: { inputs: ['n'] } });
    expect(operators(model)).toEqual(['Clip']);
    expect(report).toMatchObject({
      converted: { from: 7, to: 17, steps: [{ node: 'Clip of "y"', opset: 11 }] },
      proof: { class: 'rounding' },
    });
  });

  it('keeps a newer operator set', async () => {
    const { report } = await importText('<ir_version: 10, opset_import: ["": 20]> g (float[1, 3, 4, 4] x) => (float[] y) { y = Relu(x) }');
    expect(report).toMatchObject({ converted: { from: 20, to: 20 } });
  });

  it('lowers a newer operator set if requested', async () => {
    const text =
      '<ir_version: 10, opset_import: ["": 18]> g (float[1, 3, 4, 4] x) => (float[] y) <int64[2] axes = {2, 3}> { y = ReduceMean(x, axes) }';
    const { model, report } = await importText(text, { newer: 'lower' });
    expect(model.opsets.get('')).toBe(17);
    expect(report).toMatchObject({
      converted: { from: 18, to: 17, steps: [{ node: 'ReduceMean of "y"', opset: 18, becomes: 'ReduceMean' }] },
      proof: { outputs: { y: { differentBits: 0 } } },
    });
    const gelu = '<ir_version: 10, opset_import: ["": 20]> g (float[1, 3, 4, 4] x) => (float[] y) { y = Gelu(x) }';
    expect((await failureOf(() => importText(gelu, { newer: 'lower' }))).message).toContain(
      'Gelu of "y" at 20: the operator is new in operator set 20',
    );
  });

  it('treats weights that are listed as inputs as weights', async () => {
    const text = `<ir_version: 3, opset_import: ["": 11]> g (float[1, 1, 4, 4] x, float[1, 1, 1, 1] w) => (float[] y) <float[1, 1, 1, 1] w = {2}> { y = Conv(x, w) }`;
    const { model, report } = await importText(text);
    expect(ends(model, 'inputs')).toEqual(['x [1, 1, 4, 4]']);
    expect(report.freedInitializers).toEqual(['w']);
  });

  it('imports operator set 6, which ONNX Runtime cannot run, without a proof', async () => {
    const text = '<ir_version: 3, opset_import: ["": 6]> g (float[1, 2, 3, 3] x) => (float[] y) { y = Add<broadcast = 1>(x, x) }';
    expect((await importText(text)).report).toMatchObject({
      proof: { samples: 0, reason: expect.stringContaining('the original model cannot run') },
    });
  });

  it('sorts nodes, and gives the same bytes again', async () => {
    const text = '<ir_version: 8, opset_import: ["": 17]> g (float[1, 3, 4, 4] x) => (float[] y) { y = Relu(n) n = Neg(x) }';
    const [first, second] = [await importText(text), await importText(text)];
    expect(operators(first.model)).toEqual(['Neg', 'Relu']);
    expect(second.bytes.equals(first.bytes)).toBe(true);
    expect(second.report).toEqual(first.report);
  });

  it('refuses an invalid graph', async () => {
    const text = '<ir_version: 8, opset_import: ["": 17]> g (float[1, 3] x) => (float[] y) { y = Add(x, nothing) }';
    expect((await failureOf(() => importText(text))).code).toBe('model-invalid');
    const path = join(folder.path, 'text.onnx');
    await writeFile(path, 'no model at all');
    expect((await failureOf(() => importFile(path, {}))).code).toBe('model-malformed');
  });

  it('reports an original that cannot run on random inputs', async () => {
    const text = '<ir_version: 8, opset_import: ["": 17]> g (float[4] x, int64[2] sizes) => (float[] y) { y = Reshape(x, sizes) }';
    const { report } = await importText(text);
    expect(report).toMatchObject({ proof: { samples: 0, reason: expect.stringContaining('Reshape') } });
  });

  it.each([
    ['of positions', 'p = Expand(one, d)  z = Squeeze(image)  y = Add(z, p)'],
    ['of a layer that takes all pixels', 's = Flatten(image)  w = Expand(one, e)  y = MatMul(s, w)'],
  ])('names a size at which the model runs, if it does not at the given one, because %s', async (_what, nodes) => {
    const text = `<ir_version: 8, opset_import: ["": 17]> g (float[N, 1, H, W] image) => (y)
      <float[1] one = {1}, int64[2] d = {64, 64}, int64[2] e = {4096, 2}> { ${nodes} }`;
    const { code, message, help } = await failureOf(() => importText(text, { shapes: { image: [1, 1, 96, 96] } }));
    expect({ code, help }).toEqual({
      code: 'image-size',
      help: 'it runs on images of 64×64: shapes: {"image": [1, 1, 64, 64]}',
    });
    expect(message).toContain('the model does not run on images of 96×96: ');
  });

  it('names operators that it cannot analyze', async () => {
    const text =
      '<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]> g (float[1, 3, 4, 4] x) => (float[1, 3, 4, 4] y) { y = com.microsoft.Gelu(x) }';
    const path = join(folder.path, 'gelu.onnx');
    await writeModel(path, parseModelText(text));
    const { log, outputs } = await runStage(importStage, { params: {}, inputs: { model: path }, folder: folder.path });
    expect(log.join()).toContain('com.microsoft.Gelu');
    expect(await readJsonFile(outputs.report ?? '')).toMatchObject({
      otherDomains: ['com.microsoft.Gelu'],
      proof: { outputs: { y: { differentBits: 0 } } },
    });
  });

  it('says that a widened model is compared with the widened graph', async () => {
    const half = '<ir_version: 8, opset_import: ["": 17]> g (float16[2] x) => (float16[2] y) { y = Relu(x) }';
    const { report } = await importText(half, { float16: 'widen' });
    expect(report).toMatchObject({ widened: expect.any(Number), proof: { class: 'exact', original: 'widened', samples: 1 } });
    expect((await importText(half.replaceAll('float16', 'float'), { float16: 'widen' })).report.proof).not.toHaveProperty('original');
  });

  it('skips the proof if requested', async () => {
    const text = '<ir_version: 8, opset_import: ["": 17]> g (string[2] x) => (string[] y) { y = Identity(x) }';
    expect((await failureOf(() => importText(text))).code).toBe('random-input');
    expect((await importText(text, { samples: 0 })).report).toMatchObject({ proof: { samples: 0 } });
  });

  it('declares its ports', () => {
    expect(Object.keys(outputPorts(importStage, parseParams(importStage, {})))).toEqual(['model', 'report']);
    expect(() => parseParams(importStage, { opset: 22 })).toThrow();
  });
});

describe('import of external data', () => {
  /** A model in one folder and its weights in another, as ports provide them. */
  async function givenParted(name: string, location = 'weights.bin'): Promise<{ model: string; weights: string }> {
    const [home, weights] = [join(folder.path, `${name}-model`), join(folder.path, `${name}-weights`)];
    await mkdir(weights);
    const text = `<ir_version: 8, opset_import: ["": 17]> g (float[1, 4] x) => (float[] y) <float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}> { y = MatMul(x, w) }`;
    await writeModel(join(home, 'model.onnx'), parseModelText(text), { externalData: { thresholdBytes: 1, file: location } });
    await rename(join(home, location), join(weights, location));
    return { model: join(home, 'model.onnx'), weights };
  }

  it('reads weights from the connected folder, and writes them into the file', async () => {
    const { model, weights } = await givenParted('parted');
    const imported = await importFile(model, {}, { externalData: weights });
    expect(ends(imported.model, 'outputs')).toEqual(['y [1, 2]']);
    expect(imported.bytes.includes(Buffer.from(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8).buffer))).toBe(true);
  });

  it('reports missing weights if the folder is not connected', async () => {
    const { model } = await givenParted('alone');
    expect((await failureOf(() => importFile(model, {}))).code).toBe('external-data-missing');
  });

  it('does not follow a link out of the folder', async () => {
    const { model, weights } = await givenParted('linked');
    await rename(join(weights, 'weights.bin'), join(folder.path, 'outside.bin'));
    await symlink(join(folder.path, 'outside.bin'), join(weights, 'weights.bin'));
    expect((await failureOf(() => importFile(model, {}, { externalData: weights }))).code).toBe('external-data-path');
  });
});
