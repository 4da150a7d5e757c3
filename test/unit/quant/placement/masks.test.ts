/** Masks of attention (−∞, or numbers beyond every signal) stay in float: at a scale that reaches them, what they are added to is lost. */
import { getValue } from '../../../../src/onnx/ir/edit.js';
import type { Model, ValueId } from '../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { warnOfMasks } from '../../../../src/quant/placement/unfit.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { compareArrays, sqnrDbOf } from '../../../../src/tensor/compare.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { failureOf } from '../../../support/error-code.js';
import { quantizeOn } from '../../../support/quantize-small.js';

const HEAD = '<ir_version: 8, opset_import: ["": 17]>\n';
const feeds: Readonly<Record<string, Tensor>> = {
  x: makeTensor(
    'float32',
    [1, 4, 8],
    Float32Array.from({ length: 32 }, (_, index) => Math.sin(index * 1.7) * 2),
  ),
};

/** Attention over eight tokens, of which the last three are masked, as `scores`, and a linear layer. */
const attention = (scores: string, constants: string): Model =>
  parseModelText(`${HEAD}g (float[1, 4, 8] x) => (float[1, 4, 2] y)
<${constants}, float[8, 2] w = {0.5, -1, 0.25, 0.75, -0.3, 0.1, 0.9, -0.6, 0.2, 0.4, 7, 7, 7, 7, 7, 7}> {
  ${scores}
  shares = Softmax<axis = 2>(scores)
  y = MatMul(shares, w)
}`);

const row = (masked: string): string => `{${['0', '0', '0', '0', '0', masked, masked, masked].join(', ')}}`;

/** Of the output, in dB. */
async function sqnrOf(model: Model, quantized: Model): Promise<number> {
  const run = async (one: Model): Promise<Float32Array> => {
    const session = await openSession(encodeModel(one), { optimization: 'disabled' });
    try {
      return (await session.run(feeds)).y?.data as Float32Array;
    } finally {
      await session.close();
    }
  };
  return sqnrDbOf(compareArrays(await run(model), await run(quantized)));
}

const ADDED = 'scores = Add(x, mask)';
const CHOSEN = `zero = Sub(x, x)
  neither = Add(zero, mask)
  seen = Greater(neither, limit)
  scores = Where(seen, x, low)`;

describe.each(['u8s8', 'a8w8', 'a16w8', 'xint8'] as const)('%s keeps attention with a mask', preset => {
  it.each([
    ['of −3.4e38 that is added', ADDED, `float[8] mask = ${row('-3.4e38')}`],
    ['of −1e9 that is added', ADDED, `float[8] mask = ${row('-1e9')}`],
    ['of −∞ that is added', ADDED, `float[8] mask = ${row('-inf')}`],
    ['of −∞ that Where chooses', CHOSEN, `float[8] mask = ${row('-9')}, float limit = {-5}, float low = {-inf}`],
  ])('%s', async (_, scores, constants) => {
    const model = attention(scores, constants);
    // Eight bits of shares and weights leave some 35 dB; a lost mask, or lost scores, below 10.
    expect(await sqnrOf(model, await quantizeOn(model, feeds, PRESETS[preset]))).toBeGreaterThan(25);
  });
});

it('bounds of Clip beyond every signal are no masks', async () => {
  const model = parseModelText(`${HEAD}g (float[1, 4, 8] x) => (float[1, 4, 8] y) <float low = {0}, float high = {3.4e38}> {
    s = Sigmoid(x)
    c = Clip(s, low, high)
    y = Mul(c, c)
  }`);
  const quantized = await quantizeOn(model, feeds, PRESETS.u8s8);
  const operators = [...quantized.graph.nodes.values()].map(({ opType }) => opType);
  expect(operators.filter(op => op === 'QuantizeLinear')).toHaveLength(3);
});

it('signals beyond 10⁸ that no mask explains are quantized, and a mask that is an input is none', async () => {
  const model = parseModelText(`${HEAD}g (float[1, 4, 8] x, float[8] mask) => (float[1, 4, 8] y, float[1, 4, 8] z) {
    l = Mul(x, x)
    m = Mul(l, l)
    y = Relu(m)
    z = Add(x, mask)
  }`);
  const large = makeTensor(
    'float32',
    [1, 4, 8],
    (feeds.x?.data as Float32Array).map(value => value * 300),
  );
  const mask = makeTensor('float32', [8], Float32Array.from([0, 0, 0, 0, 0, -1e9, -1e9, -1e9]));
  const quantized = await quantizeOn(model, { x: large, mask }, PRESETS.u8s8);
  const nodes = [...quantized.graph.nodes.values()];
  const nameOf = (id: ValueId | undefined): string => (id === undefined ? '' : getValue(quantized.graph, id).name);
  expect(nodes.find(({ opType }) => opType === 'Add')?.inputs.map(nameOf)).toContain('mask');
  const quantizedValues = nodes.filter(({ opType }) => opType === 'QuantizeLinear').map(({ inputs }) => nameOf(inputs[0]));
  expect(quantizedValues).toEqual(expect.arrayContaining(['x', 'l']));
  expect(quantizedValues.filter(name => name !== 'mask')).toHaveLength(3);
});

it('infinity without a mask is an error', async () => {
  const overflow = parseModelText(
    `${HEAD}g (float[1, 4, 8] x) => (float[1, 4, 8] y) <float gain = {900}> { l = Mul(x, gain)  y = Exp(l) }`,
  );
  expect(await failureOf(() => quantizeOn(overflow, feeds, PRESETS.u8s8))).toMatchObject({ code: 'not-finite' });
});

it.each([
  ['behind the shares of masked attention', 'scores = Add(x, mask)\n  shares = Softmax<axis = 2>(scores)\n  l = Mul(shares, gain)'],
  ['with a bound of Clip beyond every signal', 'p = Mul(x, x)\n  l = Clip(p, zero, mask)\n  g = Mul(p, gain)'],
])('infinity that no mask explains is an error: %s', async (_, nodes) => {
  const [before = ''] = nodes.match(/\w+(?= = [^=]*$)/) ?? [];
  const overflow = parseModelText(
    `${HEAD}g (float[1, 4, 8] x) => (float[1, 4, 8] y) <float mask = {-3e38}, float zero = {0}, float gain = {9000}> {
      ${nodes}
      y = Exp(${before})
    }`,
  );
  expect(await failureOf(() => quantizeOn(overflow, feeds, PRESETS.u8s8))).toMatchObject({ code: 'not-finite' });
});

it('NaN behind a mask is an error', async () => {
  const difference = parseModelText(
    `${HEAD}g (float[1, 4, 8] x) => (float[1, 4, 8] y) <float low = {-inf}> { a = Add(x, low)  y = Sub(a, a) }`,
  );
  expect(await failureOf(() => quantizeOn(difference, feeds, PRESETS.u8s8))).toMatchObject({ code: 'not-finite' });
});

it('a warning names them', () => {
  expect(warnOfMasks(['a', 'b'])).toBe('"a", "b" are masks with elements beyond every signal: the nodes around stay in float');
});
