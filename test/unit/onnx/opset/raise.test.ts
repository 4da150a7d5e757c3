/** Tests of conversion to newer operator sets. */
import { cloneModel } from '../../../../src/onnx/ir/clone.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { convertOpset } from '../../../../src/onnx/opset/convert-opset.js';
import { freeInitializersOf } from '../../../../src/onnx/passes/constants.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { makeRandomFeeds } from '../../../../src/runtime/feeds/random-feeds.js';
import { failureOf } from '../../../support/error-code.js';
import { listProblems, operators, runModel } from '../../../support/look-at-model.js';

const text = (opset: number, body: string, ends = '(float[2, 3, 4, 5] x) => (float[] y)', constants = ''): Model =>
  parseModelText(`<ir_version: 8, opset_import: ["": ${opset}]> g ${ends} ${constants === '' ? '' : `<${constants}>`} { ${body} }`);

function randomFeeds(model: Model) {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return makeRandomFeeds(model, { random, sizes: {}, freeSize: 3 });
}

/** ONNX Runtime has the kernels of every set from 7 on: its results for the old text are the oracle. */
async function raised(model: Model, target: number): Promise<Model> {
  const copy = cloneModel(model);
  const record = convertOpset(copy, target);
  expect(record.to).toBe(target);
  expect(copy.opsets.get('')).toBe(target);
  expect(listProblems(copy)).toEqual([]);
  const feeds = randomFeeds(model);
  expect(await runModel(copy, feeds)).toEqual(await runModel(model, feeds));
  return copy;
}

describe('raising the operator set keeps every bit', () => {
  it.each<[string, number, number, string, string[]]>([
    ['Slice with attributes', 9, 17, 'y = Slice<starts = [0, 1], ends = [3, 9223372036854775807], axes = [2, 3]>(x)', ['Slice']],
    ['Slice without axes', 7, 10, 'y = Slice<starts = [0, 1], ends = [1, 3]>(x)', ['Slice']],
    ['Clip with both bounds', 9, 17, 'y = Clip<min = -0.5, max = 0.5>(x)', ['Clip']],
    ['Clip with one bound', 7, 13, 'y = Clip<max = 0.5>(x)', ['Clip']],
    ['Clip without bounds', 7, 13, 'y = Clip(x)', ['Clip']],
    ['Pad with a value', 10, 17, 'y = Pad<pads = [0, 0, 1, 2, 0, 0, 3, 4], value = 0.25>(x)', ['Pad']],
    ['Pad by reflection', 10, 17, 'y = Pad<pads = [0, 0, 1, 1, 0, 0, 1, 1], mode = "reflect">(x)', ['Pad']],
    ['Dropout', 7, 17, 'y = Dropout<ratio = 0.9>(x)', ['Dropout']],
    ['Dropout with a mask that nothing reads', 7, 17, 'y, m = Dropout(x)', ['Dropout']],
    ['Softmax over the last axis', 11, 17, 'y = Softmax<axis = 3>(x)', ['Softmax']],
    ['Softmax over axis −1', 11, 17, 'y = Softmax<axis = -1>(x)', ['Softmax']],
    ['Softmax over three axes', 9, 17, 'y = Softmax(x)', ['Flatten', 'Softmax', 'Shape', 'Reshape']],
    ['Softmax over two axes, counted from the end', 11, 13, 'y = Softmax<axis = -2>(x)', ['Flatten', 'Softmax', 'Shape', 'Reshape']],
    ['LogSoftmax over two axes', 12, 13, 'y = LogSoftmax<axis = 2>(x)', ['Flatten', 'LogSoftmax', 'Shape', 'Reshape']],
    ['Upsample by nearest neighbors', 7, 17, 'y = Upsample<mode = "nearest", scales = [1.0, 1.0, 2.0, 3.0]>(x)', ['Resize']],
    ['Upsample, bilinear', 7, 17, 'y = Upsample<mode = "linear", scales = [1.0, 1.0, 2.0, 2.0]>(x)', ['Resize']],
    ['Squeeze and Unsqueeze', 11, 17, 'a = Unsqueeze<axes = [0, 3]>(x) y = Squeeze<axes = [0]>(a)', ['Unsqueeze', 'Squeeze']],
    ['Squeeze without axes', 12, 13, 'a = Unsqueeze<axes = [0]>(x) y = Squeeze(a)', ['Unsqueeze', 'Squeeze']],
    ['ReduceSum', 11, 17, 'y = ReduceSum<axes = [1], keepdims = 0>(x)', ['ReduceSum']],
    ['ReduceMean, which changes at 18', 13, 21, 'y = ReduceMean<axes = [2, 3]>(x)', ['ReduceMean']],
    ['ReduceMax over everything', 13, 18, 'y = ReduceMax(x)', ['ReduceMax']],
    ['Split by sizes', 11, 18, 'y, z = Split<axis = 2, split = [1, 3]>(x)', ['Split']],
    ['Split evenly', 11, 18, 'y, z = Split<axis = 2>(x)', ['Split']],
    [
      'GridSample',
      16,
      20,
      'g = Slice(x, st, en, ax) p = Transpose<perm = [0, 2, 3, 1]>(g) y = GridSample<mode = "bilinear">(x, p)',
      ['Slice', 'Transpose', 'GridSample'],
    ],
  ])('%s', async (_, from, target, body, wanted) => {
    const constants = body.includes('st, en') ? 'int64[1] st = {0}, int64[1] en = {2}, int64[1] ax = {1}' : '';
    expect(operators(await raised(text(from, body, undefined, constants), target))).toEqual(wanted);
  });

  it('TopK', async () => {
    await raised(text(9, 'y, i = TopK<axis = 3, k = 2>(x)', '(float[1, 1, 2, 5] x) => (float[] y, int64[] i)'), 17);
  });

  it('BatchNormalization', async () => {
    const constants = 'float[3] s = {1, 2, 3}, float[3] b = {0, 0.5, 1}, float[3] m = {0, 0.1, 0.2}, float[3] v = {1, 2, 3}';
    const model = text(7, 'y = BatchNormalization<epsilon = 0.001, spatial = 1>(x, s, b, m, v)', undefined, constants);
    const after = await raised(model, 17);
    expect([...after.graph.nodes.values()][0]?.attributes.has('spatial')).toBe(false);
  });

  it('Resize with scales, which set 10 had as second input', async () => {
    await raised(text(10, 'y = Resize<mode = "nearest">(x, s)', undefined, 'float[4] s = {1, 1, 2, 2}'), 17);
  });

  it('Resize with sizes beside empty scales', async () => {
    const body = 'y = Resize<mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric">(x, r, s, z)';
    const after = await raised(text(11, body, undefined, 'float[0] r = {}, float[0] s = {}, int64[4] z = {2, 3, 8, 10}'), 17);
    expect([...after.graph.nodes.values()][0]?.inputs[2]).toBeUndefined();
  });

  it('Scatter', async () => {
    const ends = '(float[1, 5] x) => (float[] y)';
    const after = await raised(text(9, 'y = Scatter<axis = 1>(x, i, u)', ends, 'int64[1, 2] i = {1, 3}, float[1, 2] u = {7, 8}'), 17);
    expect(operators(after)).toEqual(['ScatterElements']);
  });

  it('RoiAlign, whose new default has other coordinates', async () => {
    const constants = 'float[2, 4] r = {0, 0, 3, 3, 1, 1, 4, 3}, int64[2] b = {0, 1}';
    await raised(text(10, 'y = RoiAlign<output_height = 2, output_width = 2, sampling_ratio = 2>(x, r, b)', undefined, constants), 17);
  });

  it('a branch of If', async () => {
    const body = `c = Greater(a, b)
      y = If<then_branch = t () => (float[] p) { p = Clip<min = 0.0>(x) }, else_branch = e () => (float[] q) { q = Softmax(x) }>(c)`;
    const model = text(9, body, '(float[2, 3, 4, 5] x, float a, float b) => (float[] y)');
    const after = await raised(model, 17);
    expect(operators(after)).toEqual(['Greater', 'If']);
  });
});

describe('raising the operator set', () => {
  it('does nothing to a model of the set that is wanted', () => {
    const model = text(17, 'y = Relu(x)');
    expect(convertOpset(model, 17)).toEqual({ from: 17, to: 17, steps: [] });
    expect(model.opsets.get('')).toBe(17);
  });

  it('names each step by the original node name', () => {
    const model = text(9, '[up] y = Upsample(x, s)', undefined, 'float[4] s = {1, 1, 2, 2}');
    expect(convertOpset(model, 17).steps).toEqual([
      { node: 'Upsample "up"', opset: 10, becomes: 'Resize' },
      { node: 'Upsample "up"', opset: 11, becomes: 'Resize' },
      { node: 'Upsample "up"', opset: 13, becomes: 'Resize' },
    ]);
  });

  it('does not change other domains', () => {
    const model = parseModelText(
      '<ir_version: 8, opset_import: ["": 9, "com.microsoft": 1]> g (float[2, 2] x) => (float[] y) { y = com.microsoft.Slice<starts = [0]>(x) }',
    );
    expect(convertOpset(model, 17).steps).toEqual([]);
  });

  it.each([
    ['shrinking by nearest neighbors', 10, 'y = Resize<mode = "nearest">(x, s)', 'float[4] s = {1, 1, 0.5, 2}', 'the nearest neighbor'],
    ['statistics of training', 9, 'y, m2, v2 = BatchNormalization(x, s, s, s, s)', 'float[3] s = {1, 1, 1}', 'training statistics'],
    ['a BatchNormalization per element', 7, 'y = BatchNormalization<spatial = 0>(x, s, s, s, s)', 'float[3] s = {1, 1, 1}', 'spatial is 0'],
    ['a mask of Dropout that is read', 7, 'y, m = Dropout(x) z = Add(y, m)', '', 'mask'],
  ])('refuses %s, and names node, operator set and reason', async (_, opset, body, constants, reason) => {
    const failure = await failureOf(() => convertOpset(text(opset, body, undefined, constants), 17));
    expect(failure.code).toBe('opset-conversion');
    expect(failure.message).toContain(`operator set ${opset} cannot be converted to 17 exactly: `);
    expect(failure.message).toMatch(/of "y" at \d+: /);
    expect(failure.message).toContain(reason);
  });

  it('refuses an axis of set 6 that is none', async () => {
    const model = text(6, 'y = Add<broadcast = 1, axis = -9007199254740991>(x, b)', undefined, 'float[3] b = {1, 2, 3}');
    expect((await failureOf(() => convertOpset(model, 17))).message).toContain('its axis is -9007199254740991');
  });

  it('refuses an operator set that is too old', async () => {
    expect((await failureOf(() => convertOpset(text(5, 'y = Relu(x)'), 17))).message).toContain('operator set 5');
  });

  it('aligns operands of set 6 at their ends', async () => {
    const ends = '(float[2, 3, 4] x) => (float[] y)';
    const model = text(6, 'y = Add<broadcast = 1, axis = 1>(x, b)', ends, 'float[3] b = {1, 2, 3}');
    convertOpset(model, 17);
    expect(operators(model)).toEqual(['Reshape', 'Add']);
    const feeds = randomFeeds(model);
    const { y } = await runModel(model, feeds);
    const x = [...(feeds.x?.data as Float32Array)];
    expect([...(y?.data as Float32Array)]).toEqual(x.map((value, index) => Math.fround(value + 1 + (Math.floor(index / 4) % 3))));
  });

  it('gives the scales of set 6 an axis each', () => {
    const model = text(6, 'y = Upsample<height_scale = 2.0, width_scale = 3.0>(x)');
    convertOpset(model, 7);
    expect([...model.graph.nodes.values()][0]?.attributes).toEqual(new Map([['scales', { kind: 'floats', value: [1, 1, 2, 3] }]]));
  });

  it('gives a slope per channel of set 6 the dimensions after it', async () => {
    const model = text(6, 'y = PRelu(x, s)', undefined, 'float[3] s = {0.5, 0.25, 2}');
    convertOpset(model, 17);
    const feeds = randomFeeds(model);
    const { y } = await runModel(model, feeds);
    const slopes = [0.5, 0.25, 2];
    const wanted = [...(feeds.x?.data as Float32Array)].map((value, index) =>
      value < 0 ? value * (slopes[Math.floor(index / 20) % 3] ?? 0) : value,
    );
    expect([...(y?.data as Float32Array)]).toEqual(wanted.map(Math.fround));
  });

  it('frees weights that are inputs before it reads their values', async () => {
    const model = parseModelText(
      '<ir_version: 3, opset_import: ["": 9]> g (float[1, 1, 2, 2] x, float[4] s) => (float[] y) <float[4] s = {1, 1, 2, 2}> { y = Upsample(x, s) }',
    );
    freeInitializersOf(model);
    convertOpset(model, 17);
    expect(operators(model)).toEqual(['Resize']);
  });
});
