/** Models of float16 as models of float32. Oracle: ONNX Runtime on both, within the rounding of float16. */
import type { Model } from '../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { widenHalf } from '../../../../src/onnx/surgery/widen-half.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { decodeFloat16Array, encodeFloat16Array } from '../../../../src/tensor/numeric/half.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';

const HEAD = '<ir_version: 8, opset_import: ["": 17]>\n';

/** Weights, a Cast to float16, a constant of ConstantOfShape, and a branch. */
const NETWORK = `${HEAD}g (float16[1, 4] x) => (float16[1, 3] y)
<float16[4, 3] w = {0.5, -0.25, 1.5, 0.1, 0.3, -0.7, 1, 2, -1, 0.33, -0.66, 0.125}, float[1, 3] b = {0.1, 0.2, 0.3}, int64[1] three = {3}> {
  product = MatMul(x, w)
  half = Cast<to = 10>(b)
  sum = Add(product, half)
  ones = ConstantOfShape<value = float16[1] {1}>(three)
  total = ReduceSum<keepdims = 0>(sum)
  wide = Cast<to = 1>(total)
  zero = Constant<value = float {0}>()
  above = Greater(wide, zero)
  y = If(above) <
    then_branch = t () => (float16[1, 3] a) { a = Add(sum, ones) },
    else_branch = e () => (float16[1, 3] a) { a = Sub(sum, ones) }
  >
}`;

const X = [0.7, -1.3, 0.2, 2.4];

async function run(model: Model, x: Tensor): Promise<Tensor> {
  const session = await openSession(encodeModel(model), { optimization: 'disabled' });
  try {
    return (await session.run({ x })).y as Tensor;
  } finally {
    await session.close();
  }
}

it('a widened model computes the same in float32', async () => {
  const half = encodeFloat16Array(X);
  const before = await run(parseModelText(NETWORK), makeTensor('float16', [1, 4], half));
  const model = parseModelText(NETWORK);
  // The input, the weight, the output, and the results of both branches; types of other values are not stated.
  expect(widenHalf(model)).toBe(5);
  const after = await run(model, makeTensor('float32', [1, 4], decodeFloat16Array(half)));
  expect([before.dtype, after.dtype]).toEqual(['float16', 'float32']);
  // Numbers below 8 have a step of 2⁻⁸ in float16; four roundings.
  const wanted = decodeFloat16Array(before.data as Uint16Array);
  for (const [index, value] of [...(after.data as Float32Array)].entries())
    expect(Math.abs(value - (wanted[index] ?? NaN))).toBeLessThan(2 ** -6);
});

it('a model without float16 does not change', () => {
  const model = parseModelText(`${HEAD}g (float[1, 4] x) => (float[1, 4] y) { y = Relu(x) }`);
  const before = encodeModel(model);
  expect(widenHalf(model)).toBe(0);
  expect(encodeModel(model)).toEqual(before);
});
