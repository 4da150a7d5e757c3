/** Float heads on tiles add in another order than one by one. Both orders are as near to the exact results, and within the bound of float32 sums. */
import { getDefined } from '../../../../src/base/invariant.js';
import { int } from '../../../../src/onnx/ir/attribute.js';
import { tileRois } from '../../../../src/onnx/tiles/tile-rois.js';
import { computeExactly } from '../../../support/exact-head.js';
import { makeHead, makeRows } from '../../../support/heads.js';
import { runOneByOne, runTiled } from '../../../support/run-tiled.js';
import { randomConstant, randomFloats, smallModel } from '../../../support/small-model.js';

type Outputs = Readonly<Record<string, Float32Array>>;

/** Of the largest output. Measured with 7 rows: 4.7e-7 (v1) and 3.3e-7 (v2) one by one, 1.8e-7 to 4.6e-7 on tiles; twice the largest, for other processors. */
const NEAR = 1e-6;

it.each(['box head v1', 'box head v2'] as const)('%s is as near to its exact outputs on tiles as one by one', async name => {
  const model = await makeHead(name);
  const rows = makeRows(model, 5);
  const exact = computeExactly(model, getDefined(Object.values(rows)[0], 'rows'));
  expect(largestError(exact, await runOneByOne(model, rows))).toBeLessThan(NEAR);
  for (const [grid, strides] of [
    [[1, 1], 'any'],
    [[3, 2], 'any'],
    [
      [3, 2],
      [1, 2, 4],
    ],
  ] as const) {
    const { outputs } = await runTiled(tileRois(model, { grid, mask: 'full', strides }), grid, rows);
    expect(largestError(exact, outputs)).toBeLessThan(NEAR);
  }
});

it('every sum of a Gemm on tiles is within the bound of its length', async () => {
  const [channels, size, count] = [32, 7, 6];
  const length = channels * size * size;
  const model = smallModel({
    inputs: { x: ['float32', ['rois', channels, size, size]] },
    constants: { w: randomConstant([20, length], 1), b: randomConstant([20], 2) },
    nodes: [
      { op: 'Flatten', in: ['x'], out: ['f'] },
      { op: 'Gemm', in: ['f', 'w', 'b'], out: ['y'], attributes: { transB: int(1) } },
    ],
    outputs: ['y'],
  });
  const x = randomFloats([count, channels, size, size], 3);
  const exact = getDefined(computeExactly(model, x).get('y'), 'y');
  const weights = randomFloats([20, length], 1).data;
  const biases = randomFloats([20], 2).data;
  // n products and a bias, each result rounded to 24 bits: at most (n + 1)·u / (1 − (n + 1)·u) of the sum of their magnitudes, in every order (Higham, Accuracy
  // and Stability of Numerical Algorithms, section 3.1).
  const unit = (length + 1) * 2 ** -24;
  const bounds = exact.map((_, at) => {
    const [row, output] = [Math.floor(at / 20), at % 20];
    let sizes = Math.abs(biases[output] ?? 0);
    for (let k = 0; k < length; k++) sizes += Math.abs((weights[output * length + k] ?? 0) * (x.data[row * length + k] ?? 0));
    return (unit / (1 - unit)) * sizes;
  });
  const grid = [2, 2] as const;
  const tiled = tileRois(model, { grid, mask: 'full', strides: 'any' });
  for (const { y } of [await runOneByOne(model, { x }), (await runTiled(tiled, grid, { x })).outputs])
    expect(exact.filter((value, at) => !(Math.abs(value - (y?.[at] ?? Number.NaN)) <= (bounds[at] ?? 0)))).toHaveLength(0);
});

/** The largest distance from the exact outputs, as a share of the largest one. */
function largestError(exact: ReadonlyMap<string, Float64Array>, outputs: Outputs): number {
  return Math.max(
    ...[...exact].map(([name, values]) => {
      const found = getDefined(outputs[name], name);
      const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      return values.reduce((most, value, at) => Math.max(most, Math.abs(value - (found[at] ?? Number.NaN))), 0) / largest;
    }),
  );
}
