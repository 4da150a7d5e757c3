/** Tests of the passes on the subgraphs of If, Loop and Scan. ONNX Runtime computes the outputs before and after. */

import type { Model } from '../../../../src/onnx/ir/model.js';
import { OnnxError } from '../../../../src/onnx/ir/onnx-error.js';
import { scopesOf } from '../../../../src/onnx/ir/scope.js';
import type { Pass } from '../../../../src/onnx/passes/pass.js';
import { simplifyToFixedPoint } from '../../../../src/onnx/passes/simplify.js';
import { decodeModel } from '../../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { evaluate } from '../../../../src/runtime/session/evaluate.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { listProblems, operators, runModel } from '../../../support/look-at-model.js';
import { randomFloats } from '../../../support/small-model.js';

const parse = (text: string): Model => parseModelText(`<ir_version: 8, opset_import: ["": 17]> ${text}`);
const simplify = (model: Model, passes?: readonly Pass[]) =>
  simplifyToFixedPoint(model, { evaluate, check: listProblems, foldLimitBytes: 1 << 20, ...(passes === undefined ? {} : { passes }) });

/** Operators of every graph, outer ones first. */
const all = (model: Model): string[][] => [...scopesOf(model)].map(({ graph }) => [...graph.nodes.values()].map(node => node.opType));
const initializers = (model: Model): number[] =>
  [...scopesOf(model)].map(({ graph }) => [...graph.values.values()].filter(value => value.constant !== undefined).length);

const flag = (value: 0 | 1): Tensor => makeTensor('bool', [], Uint8Array.of(value));
const branch = (then: string, otherwise = 'q = Neg(h)', before = 'h = Relu(x)'): string => `g (bool c, float[2, 3] x) => (float[2, 3] y)
  <float[2, 3] ones = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, int64[2] shape = {2, 3}, float two = {2.0}> {
    ${before}
    y = If<then_branch = t () => (float[2, 3] p) { ${then} }, else_branch = e () => (float[2, 3] q) { ${otherwise} }>(c)
  }`;

/** s = If(c), of which both branches give Optional without an input, of type seq(float32[2]); made with onnx.helper, as the text form has no such type. */
const EMPTY_OPTIONALS =
  'CAg66gEKvgEKAWMSAXMiAklmKlgKC2Vsc2VfYnJhbmNoMkYKKBIBcSIIT3B0aW9uYWwqGQoEdHlwZXIOIgwKCgoICAESBAoCCAKgAQ0SAWViFwoBcRISShAKDiIMCgoKCAgBEgQKAggCoAEFKlgKC3RoZW5fYnJhbmNoMkYKKBIBcCIIT3B0aW9uYWwqGQoEdHlwZXIOIgwKCgoICAESBAoCCAKgAQ0SAXRiFwoBcBISShAKDiIMCgoKCAgBEgQKAggCoAEFEgFnWgsKAWMSBgoECAkSAGIXCgFzEhJKEAoOIgwKCgoICAESBAoCCAJCBAoAEBE=';

describe('passes in sub-graphs', () => {
  it.each<[string, string, readonly (readonly string[])[]]>([
    [
      'a captured constant is constant inside',
      branch('a = Add(ones, two) b = Mul(a, two) p = Mul(h, b)'),
      [['Relu', 'If'], ['Mul'], ['Neg']],
    ],
    ['a shape of what is captured', branch('s = Shape(h) r = Reshape(h, s) p = Neg(r)'), [['Relu', 'If'], ['Neg'], ['Neg']]],
    ['no-ops', branch('i = Identity(h) d = Dropout(i) m = Mul(d, ones) p = Neg(m)'), [['Relu', 'If'], ['Neg'], ['Neg']]],
    ['dead nodes', branch('lost = Exp(h) p = Neg(h)'), [['Relu', 'If'], ['Neg'], ['Neg']]],
    [
      'what only a dead node inside read',
      branch('lost = Add(h, k) p = Neg(h)', 'q = Abs(h)', 'h = Relu(x) k = Exp(x)'),
      [['Relu', 'If'], ['Neg'], ['Abs']],
    ],
    ['what was computed before, outside', branch('a = Relu(x) p = Neg(a)', 'q = Abs(h)'), [['Relu', 'If'], ['Neg'], ['Abs']]],
    [
      'not what is computed after, outside',
      'g (bool c, float[2] x) => (float[2] y, float[2] z) { y = If<then_branch = t () => (float[2] p) { a = Relu(x) p = Neg(a) }, else_branch = e () => (float[2] q) { q = Abs(x) }>(c) b = Relu(x) z = Neg(b) }',
      [['If', 'Relu', 'Neg'], ['Relu', 'Neg'], ['Abs']],
    ],
    ['what is computed twice inside', branch('a = Exp(h) b = Exp(h) p = Add(a, b)'), [['Relu', 'If'], ['Exp', 'Add'], ['Neg']]],
    [
      'an If inside whose condition is constant',
      branch(
        'yes = Constant<value = bool {1}>() p = If<then_branch = u () => (float[2, 3] v) { w = Exp(h) v = Neg(w) }, else_branch = f () => (float[2, 3] k) { k = Abs(h) }>(yes)',
      ),
      [['Relu', 'If'], ['Exp', 'Neg'], ['Neg']],
    ],
    [
      'a Loop inside that runs twice',
      branch(
        'n = Constant<value = int64 {2}>() yes = Constant<value = bool {1}>() p = Loop<body = b (int64 i, bool on, float[2, 3] s) => (bool on, float[2, 3] r) { r = Exp(s) }>(n, yes, h)',
      ),
      [['Relu', 'If'], ['Exp', 'Exp'], ['Neg']],
    ],
    ['an output that is constant', branch('p = Mul(ones, two)', 'q = Identity(ones)', 'h = Relu(x)'), [['If'], [], []]],
    [
      'an output that is constant, of a Loop that carries it and collects it',
      'g (bool c, float[2] x) => (float[2] y, float[k, 2] z) <int64 n = {3}, float[2] two = {2.0, 2.0}> { a = Relu(x) y, z = Loop<body = b (int64 i, bool on, float[2] s) => (bool go, float[2] r, float[2] t) { go = Identity(c) r = Identity(two) t = Add(two, two) }>(n, c, a) }',
      [['Relu', 'Loop'], ['Identity']],
    ],
    ['an output that is what is captured stays a node', branch('p = Identity(h)'), [['Relu', 'If'], ['Identity'], ['Neg']]],
  ])('%s', async (_, text, expected) => {
    const x = text.includes('float[2, 3] x') ? randomFloats([2, 3]) : randomFloats([2]);
    const model = parse(text);
    await simplify(model);
    expect(all(model)).toEqual(expected);
    expect(listProblems(model)).toEqual([]);
    for (const c of [flag(0), flag(1)]) expect(await runModel(model, { c, x })).toEqual(await runModel(parse(text), { c, x }));
    const bytes = encodeModel(model);
    const again = decodeModel(bytes);
    expect((await simplify(again)).steps).toEqual([]);
    expect(Buffer.compare(encodeModel(again), bytes)).toBe(0);
  });

  it('join a constant with an equal one outside, whatever its name', async () => {
    const model = parse(branch('k = Constant<value = float {2.0}>() p = Mul(h, k)', 'q = Mul(x, two)'));
    await simplify(model);
    expect(initializers(model)).toEqual([1, 0, 0]);
  });

  it('fuse in the body of a Loop, and give new values unique names', async () => {
    const text = `g (int64 n, float[1, 2, 4, 4] x, float[1, 2, 4, 4] w_bias) => (float[1, 2, 4, 4] y)
      <float[2, 2, 1, 1] w = {0.5, 0.25, 2.0, 1.0}, float[2] g = {2.0, 3.0}, float[2] b = {1.0, -1.0}, float[2] m = {0.5, 0.0}, float[2] v = {1.0, 4.0}> {
      last = Loop<body = body (int64 i, bool on, float[1, 2, 4, 4] s) => (bool on, float[1, 2, 4, 4] r) {
        a = Conv(s, w) r = BatchNormalization(a, g, b, m, v)
      }>(n, , x)
      y = Add(last, w_bias)
    }`;
    const feeds = {
      n: makeTensor('int64', [], BigInt64Array.of(3n)),
      x: randomFloats([1, 2, 4, 4]),
      w_bias: randomFloats([1, 2, 4, 4], 2),
    };
    const model = parse(text);
    await simplify(model);
    expect(all(model)).toEqual([['Loop', 'Add'], ['Conv']]);
    expect([...scopesOf(model)].flatMap(({ graph }) => [...graph.values.values()].map(({ name }) => name))).toContain('w_bias_1');
    const [before, after] = [await runModel(parse(text), feeds), await runModel(model, feeds)];
    const [a, b] = [before.y?.data as Float32Array, after.y?.data as Float32Array];
    // Three times eight products in another order, of numbers below 100.
    for (const [index, value] of a.entries()) expect(Math.abs(value - (b[index] ?? Number.NaN))).toBeLessThan(1e-4);
  });

  it('do not take sizes that a Loop changes for constant', async () => {
    const text = `g (int64 n, float[2] x) => (int64[1] y) {
      last, sizes = Loop<body = b (int64 i, bool on, float[k] s) => (bool on, float[l] r, int64[1] size) {
        size = Shape(s) r = Concat<axis = 0>(s, s)
      }>(n, , x)
      y = ReduceMax<axes = [0], keepdims = 0>(sizes)
    }`;
    const feeds = { n: makeTensor('int64', [], BigInt64Array.of(3n)), x: randomFloats([2]) };
    const model = parse(text);
    await simplify(model);
    expect(await runModel(model, feeds)).toEqual(await runModel(parse(text), feeds));
    expect((await runModel(model, feeds)).y?.data).toEqual(BigInt64Array.of(8n));
  });

  it.each<[string, string, bigint]>([
    [
      'stated as they are the first time',
      'float[2] s) => (bool on, float[4] r, int64[1] size) { f = Shape(s) size = Abs(f) r = Concat<axis = 0>(s, s)',
      8n,
    ],
    [
      'whose count of axes grows',
      'float[] s) => (bool on, float[] r, int64[1] size) { f = Shape(s) k = Shape(f) size = Abs(k) none = Constant<value = int64[1] {0}>() r = Unsqueeze(s, none)',
      3n,
    ],
  ])('do not take sizes for constant that a Loop changes, %s', async (_, body, last) => {
    const text = `g (int64 n, float[2] x) => (int64 y) {
      last, sizes = Loop<body = b (int64 i, bool on, ${body} }>(n, , x)
      y = ReduceMax<keepdims = 0>(sizes)
    }`;
    const feeds = { n: makeTensor('int64', [], BigInt64Array.of(3n)), x: randomFloats([2]) };
    const model = parse(text);
    expect((await runModel(parse(text), feeds)).y?.data).toEqual(BigInt64Array.of(last));
    await simplify(model);
    expect((await runModel(model, feeds)).y?.data).toEqual(BigInt64Array.of(last));
  });

  it('undo a pass after which shapes contradict each other, and say so', async () => {
    // The branch that is never looked into claims [2, 3] of what is [3, 2]; where it is taken, ONNX Runtime goes by what it computes.
    const model = parse(branch('p = Neg(h)'));
    const breaking: Pass = {
      name: 'breaking',
      proof: 'exact',
      proofText: '',
      async run({ graph }) {
        const [relu] = graph.nodes.values();
        if (relu?.opType !== 'Relu') return { changed: [], declined: [] };
        relu.opType = 'Transpose';
        return { changed: ['Relu'], declined: [] };
      },
    };
    const { declined, steps } = await simplify(model, [breaking]);
    expect(steps).toEqual([]);
    expect(declined).toEqual([
      { pass: 'breaking', node: 'graph "g"', reason: expect.stringContaining('undone, because shapes would contradict') },
    ]);
    expect(operators(model)).toEqual(['Relu', 'If']);
  });

  // Asked for such a value, ONNX Runtime ends the process.
  it('leave an output that is an optional value without a sequence', async () => {
    const model = decodeModel(Buffer.from(EMPTY_OPTIONALS, 'base64'));
    expect((await simplify(model)).steps).toEqual([]);
    expect(all(model)).toEqual([['If'], ['Optional'], ['Optional']]);
  });

  it('accept consistent shapes', async () => {
    const failing: Pass = {
      name: 'failing',
      proof: 'exact',
      proofText: '',
      run: () => Promise.reject(new OnnxError('patch-breaks-graph', 'a defect')),
    };
    await expect(simplify(parse(branch('p = Neg(h)')), [failing])).rejects.toThrow('a defect');
  });
});
