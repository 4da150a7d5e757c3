/** Chains of Shape, Gather and Concat that compute the shape of a Reshape from free sizes. ONNX Runtime computes the original at several sizes. */

import { cloneModel } from '../../../../src/onnx/ir/clone.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { simplifyToFixedPoint } from '../../../../src/onnx/passes/simplify.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { evaluate } from '../../../../src/runtime/session/evaluate.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { operators } from '../../../support/look-at-model.js';
import { randomFloats } from '../../../support/small-model.js';

const HEAD = '<ir_version: 8, opset_import: ["": 17]>';
const CONSTANTS = 'int64 i0 = {0}, int64 i2 = {2}, int64 i3 = {3}, int64[1] axis = {0}, int64[1] rest = {-1}, int64[1] eight = {8}';
const size = (of: string, axis: number): string =>
  `s_${of}${axis} = Shape(${of}) g_${of}${axis} = Gather(s_${of}${axis}, i${axis}) u_${of}${axis} = Unsqueeze(g_${of}${axis}, axis)`;

/** Flattening with −1, and with the product of two sizes. */
const FLATTENING = `${HEAD} g (float[N, 8, H, W] x) => (float[] y, float[] z) <${CONSTANTS}> {
  ${size('x', 0)} ${size('x', 2)} ${size('x', 3)}
  flat = Concat<axis = 0>(u_x0, rest) y = Reshape(x, flat)
  area = Mul(g_x2, g_x3) wide = Unsqueeze(area, axis) maps = Concat<axis = 0>(u_x0, eight, wide) z = Reshape(x, maps) }`;

/** Two free sizes change their places. */
const TURNING = `${HEAD} g (float[N, 8, H, W] x) => (float[] y) <${CONSTANTS}> {
  ${size('x', 0)} ${size('x', 2)} ${size('x', 3)} turned = Concat<axis = 0>(u_x0, u_x3, eight, u_x2) y = Reshape(x, turned) }`;

/** The number of rows depends on the data, and may be 0; the product of sizes is no −1 of the original. */
const FOUND = `${HEAD} g (float[8, H, W] x, int64[8, 1] which) => (float[] y) <${CONSTANTS}, int64 i1 = {1}, int64[1] first = {1}> {
  places = NonZero(which) row = Gather(places, i0) rows = Gather(x, row)
  ${size('rows', 0)} ${size('rows', 1)} ${size('rows', 2)}
  area = Mul(g_rows1, g_rows2) wide = Unsqueeze(area, axis) flat = Concat<axis = 0>(u_rows0, wide) y = Reshape(rows, flat) }`;

async function simplify(text: string): Promise<{ readonly before: Model; readonly after: Model }> {
  const before = parseModelText(text);
  const after = cloneModel(before);
  await simplifyToFixedPoint(after, { evaluate, foldLimitBytes: 1 << 20, check: () => [] });
  return { before, after };
}

it('become one Reshape with 0 and −1', async () => {
  const { before, after } = await simplify(FLATTENING);
  expect(operators(after)).toEqual(['Reshape', 'Reshape']);
  const [first, second] = [
    await openSession(encodeModel(before), { optimization: 'disabled' }),
    await openSession(encodeModel(after), { optimization: 'disabled' }),
  ];
  for (const dims of [
    [1, 8, 3, 5],
    [4, 8, 1, 2],
  ]) {
    const feeds = { x: randomFloats(dims, 7) };
    expect(await second.run(feeds)).toEqual(await first.run(feeds));
  }
  await Promise.all([first.close(), second.close()]);
});

it('stay where two sizes change their places', async () => {
  expect(operators((await simplify(TURNING)).after)).toContain('Concat');
});

it('stay where a number of rows that may be 0 would stand beside a new −1', async () => {
  const { after } = await simplify(FOUND);
  const session = await openSession(encodeModel(after), { optimization: 'disabled' });
  const which = makeTensor('int64', [8, 1], new BigInt64Array(8));
  const { y } = await session.run({ x: randomFloats([8, 3, 5], 3), which });
  await session.close();
  expect(y?.dims).toEqual([0, 15]);
});
