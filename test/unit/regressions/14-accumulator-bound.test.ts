/** A layer is called exact only if float32 adds all its sums exactly: 518 products of uint8 and int8 stay below 2²⁴, 519 may not. */
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { boundAccumulators } from '../../../src/quant/exact/accumulator-bounds.js';

function worstGemm(inner: number): string {
  const weights = new Array<number>(inner).fill(127).join(', ');
  return `agraph (uint8[1, ${inner}] x) => (float y) <float xs = {0.5}, uint8 xz = {0}, float ws = {0.25}, int8[${inner}, 1] w = {${weights}}> {
    xd = DequantizeLinear(x, xs, xz)
    wd = DequantizeLinear(w, ws)
    y = Gemm(xd, wd)
  }`;
}

it.each([
  [518, true],
  [519, false],
])('%i products of the widest integers: exact in float32 is %s', (inner, exactInFloat) => {
  expect(boundAccumulators(parseModelText(worstGemm(inner)))).toMatchObject([{ bound: inner * 255 * 127, exactInFloat }]);
});

it('the accepted sum is one that float32 rounds', () => {
  const sum = 519 * 255 * 127;
  expect(sum).toBeGreaterThan(2 ** 24);
  expect(Math.fround(sum)).not.toBe(sum);
});
