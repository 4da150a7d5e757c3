/** Tests of conversion to older operator sets. */
import { cloneModel } from '../../../../src/onnx/ir/clone.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { convertOpset } from '../../../../src/onnx/opset/convert-opset.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { failureOf } from '../../../support/error-code.js';
import { listProblems, nodesOf, runModel } from '../../../support/look-at-model.js';
import { randomFloats } from '../../../support/small-model.js';

const text = (opset: number, body: string, constants = '', inputs = 'float[2, 3, 4, 5] x'): Model =>
  parseModelText(
    `<ir_version: 8, opset_import: ["": ${opset}]> g (${inputs}) => (float[] y) ${constants === '' ? '' : `<${constants}>`} { ${body} }`,
  );

/** ONNX Runtime has the kernels of both sets: its results for the text as it stands are the oracle. */
async function lowered(model: Model): Promise<Model> {
  const copy = cloneModel(model);
  expect(convertOpset(copy, 17).to).toBe(17);
  expect(listProblems(copy)).toEqual([]);
  const feeds = { x: randomFloats([2, 3, 4, 5]) };
  expect(await runModel(copy, feeds)).toEqual(await runModel(model, feeds));
  return copy;
}

describe('lowering the operator set keeps every bit', () => {
  it.each<[string, number, string, string]>([
    ['axes of a reduction', 18, 'y = ReduceMean(x, a)', 'int64[2] a = {2, -1}'],
    ['a reduction of everything', 18, 'y = ReduceMax<keepdims = 0>(x)', ''],
    ['a reduction with no axes listed', 20, 'y = ReduceMin(x, a)', 'int64[0] a = {}'],
    ['an even Split', 18, 'y, z = Split<axis = 2, num_outputs = 2>(x)', ''],
    ['a Split whose last share is smaller', 18, 'y, z = Split<axis = -1, num_outputs = 2>(x)', ''],
    ['a Split by sizes', 18, 'y, z = Split<axis = 2>(x, s)', 'int64[2] s = {1, 3}'],
    ['Pad', 19, 'y = Pad(x, p)', 'int64[8] p = {0, 0, 1, 1, 0, 0, 2, 2}'],
    ['Resize', 19, 'y = Resize<antialias = 0, mode = "linear">(x, , s)', 'float[4] s = {1, 1, 2, 2}'],
    ['Cast', 19, 'c = Cast<to = 6, saturate = 1>(x) y = Cast<to = 1>(c)', ''],
    [
      'GridSample',
      20,
      'g = Slice(x, st, en, ax) p = Transpose<perm = [0, 2, 3, 1]>(g) y = GridSample<mode = "cubic">(x, p)',
      'int64[1] st = {0}, int64[1] en = {2}, int64[1] ax = {1}',
    ],
    ['QDQ', 21, 'q = QuantizeLinear<saturate = 1>(x, s, z) y = DequantizeLinear(q, s, z)', 'float s = {0.01}, uint8 z = {128}'],
  ])('%s', async (_, opset, body, constants) => {
    await lowered(text(opset, body, constants));
  });

  it('AveragePool, whose kernel of set 19 rounds the division differently in the last bits', async () => {
    const model = text(19, 'y = AveragePool<kernel_shape = [2, 2], dilations = [1, 1]>(x)');
    const copy = cloneModel(model);
    convertOpset(copy, 17);
    const feeds = { x: randomFloats([2, 3, 4, 5]) };
    const [before, after] = [(await runModel(model, feeds)).y?.data as Float32Array, (await runModel(copy, feeds)).y?.data as Float32Array];
    expect(after.length).toBe(before.length);
    for (const [index, value] of before.entries()) expect(Math.abs((after[index] ?? 0) - value)).toBeLessThan(1.2e-7);
  });

  it('states the sizes of an uneven Split', async () => {
    const [node] = nodesOf(await lowered(text(18, 'y, z = Split<axis = 3, num_outputs = 2>(x)')));
    expect(node?.attributes.has('num_outputs')).toBe(false);
    expect(node?.inputs).toHaveLength(2);
  });
});

describe('lowering the operator set', () => {
  it.each([
    ['an operator that is new', 20, 'y = Gelu(x)', '', 'Gelu of "y" at 20: the operator is new in operator set 20'],
    ['axes that are computed', 18, 's = Shape(x) y = ReduceMean(x, s)', '', 'its axes are not constant'],
    ['a reduction of nothing', 18, 'y = ReduceMean<noop_with_empty_axes = 1>(x)', '', 'it reduces no axis'],
    ['antialiasing', 18, 'y = Resize<antialias = 1, mode = "linear">(x, , s)', 'float[4] s = {1, 1, 2, 2}', 'its antialias is 1'],
    [
      'another aspect ratio',
      18,
      'y = Resize<keep_aspect_ratio_policy = "not_larger">(x, , , s)',
      'int64[4] s = {2, 3, 8, 8}',
      'its keep_aspect_ratio_policy is not_larger',
    ],
    [
      'a Split of another number of outputs',
      18,
      'y, z = Split<num_outputs = 1000000000>(x)',
      '',
      'its num_outputs is 1000000000, but it has 2 outputs',
    ],
    ['dilated pooling', 19, 'y = AveragePool<kernel_shape = [2, 2], dilations = [2, 2]>(x)', '', 'it has dilations'],
    ['padding round', 19, 'y = Pad<mode = "wrap">(x, p)', 'int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}', 'its mode is wrap'],
    [
      '16-bit integers',
      21,
      'q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z)',
      'float s = {0.01}, int16 z = {0}',
      'it has dtype int16',
    ],
  ])('refuses %s', async (_, opset, body, constants, message) => {
    const failure = await failureOf(() => convertOpset(text(opset, body, constants), 17));
    expect(failure.code).toBe('opset-conversion');
    expect(failure.message).toContain(message);
  });

  it.each([
    [18, 16],
    [22, 17],
  ])('does not go from %i to %i', async (from, to) => {
    expect((await failureOf(() => convertOpset(text(from, 'y = Relu(x)'), to))).message).toContain(
      'lowering is supported between 17 and 21',
    );
  });
});
