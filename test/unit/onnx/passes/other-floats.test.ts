/** Tests that double and half precision weights are folded like single precision ones. Oracle: ONNX Runtime on the original model. */
import { findProblems } from '../../../../src/onnx/check/check-model.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { simplifyToFixedPoint } from '../../../../src/onnx/passes/simplify.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { compareModels, type OutputComparison } from '../../../../src/runtime/compare/compare-models.js';
import { findInequality } from '../../../../src/runtime/compare/equality.js';
import { makeRandomFeeds } from '../../../../src/runtime/feeds/random-feeds.js';
import { evaluate } from '../../../../src/runtime/session/evaluate.js';
import { operators } from '../../../support/look-at-model.js';
import { randomFloats } from '../../../support/small-model.js';

const numbers = (count: number, seed: number): string => [...randomFloats([count], seed).data].map(value => value.toFixed(3)).join(', ');

/** The model before and after `simplify`, on random inputs. */
async function simplified(text: string): Promise<{ readonly model: Model; readonly output: OutputComparison }> {
  const model = parseModelText(text, { opset: 14 });
  const before = encodeModel(model);
  await simplifyToFixedPoint(model, { evaluate, check: findProblems, foldLimitBytes: 1 << 20 });
  let state = 7;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const feeds = makeRandomFeeds(model, { random, sizes: {}, freeSize: 1 });
  const { outputs } = await compareModels(before, encodeModel(model), [feeds], { optimization: 'disabled' });
  const { y } = outputs;
  if (y === undefined) throw new Error('there is no output y');
  return { model, output: y };
}

const parameters = (dtype: string, count: number): string =>
  `${dtype}[${count}] g = {${numbers(count, 1)}}, ${dtype}[${count}] b = {${numbers(count, 2)}}, ${dtype}[${count}] m = {${numbers(count, 3)}}, ${dtype}[${count}] v = {${Array.from({ length: count }, (_, i) => 1 + i / 4)}}`;

describe('weights of other floats', () => {
  it('of double precision take in a BatchNormalization and a factor, to the precision of doubles', async () => {
    const { model, output } = await simplified(`g (double[5, 6] x) => (double[5, 4] y)
      <double[6, 4] w = {${numbers(24, 4)}}, double[4] c = {${numbers(4, 5)}}, ${parameters('double', 4)}, double[1, 4] k = {${numbers(4, 6)}}>
      { h = Gemm(x, w, c)  n = BatchNormalization(h, g, b, m, v)  y = Mul(n, k) }`);

    expect(operators(model)).toEqual(['Gemm']);
    expect(output.maxAbs).toBeLessThan(1e-14);
    expect(output.maxAbs).toBeGreaterThan(0);
  });

  it('of half precision take in a BatchNormalization, to the precision of halves', async () => {
    const { model, output } = await simplified(`g (float16[1, 3, 5, 5] x) => (float16[1, 4, 3, 3] y)
      <float16[4, 3, 3, 3] w = {${numbers(108, 4)}}, ${parameters('float16', 4)}> { h = Conv(x, w)  y = BatchNormalization(h, g, b, m, v) }`);

    expect(operators(model)).toEqual(['Conv']);
    expect(output.dtype).toBe('float16');
    expect(findInequality({ kind: 'rounding', tolerance: 1e-4 }, output)).toBeUndefined();
    expect(findInequality({ kind: 'rounding', tolerance: 1e-4 }, { ...output, dtype: 'float32' })).toContain('an element differs');
  });

  it.each([
    ['a double', 'double', '1'],
    ['a half', 'float16', '1'],
    ['an unsigned integer', 'uint32', '1'],
  ])('multiplied by one: %s', async (_, dtype, one) => {
    const model = parseModelText(`g (${dtype}[2] x) => (${dtype}[2] y) <${dtype} k = {${one}}> { h = Mul(x, k)  y = Max(h, x) }`, {
      opset: 14,
    });
    await simplifyToFixedPoint(model, { evaluate, check: findProblems, foldLimitBytes: 1 << 20 });
    expect(operators(model)).toEqual(['Max']);
  });

  it('that would leave the range of halves stay', async () => {
    const model = parseModelText(
      `g (float16[1, 1, 2, 2] x) => (float16[1, 1, 2, 2] y) <float16[1, 1, 1, 1] w = {60000}, float16[1, 1, 1] k = {4}> { h = Conv(x, w)  y = Mul(h, k) }`,
      { opset: 14 },
    );
    const { declined } = await simplifyToFixedPoint(model, { evaluate, check: findProblems, foldLimitBytes: 1 << 20 });
    expect(operators(model)).toEqual(['Conv', 'Mul']);
    expect(declined.map(({ reason }) => reason)).toContain('a product of weight and factor is not finite');
  });
});
