/** Every RoI head of the detectors on tiles: each row gets the results that it has alone, in float and in QDQ form. */
import { tileRois } from '../../../../src/onnx/tiles/tile-rois.js';
import { boundAccumulators } from '../../../../src/quant/exact/accumulator-bounds.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { HEADS, type Head, makeHead, makeRows } from '../../../support/heads.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { runOneByOne, runTiled } from '../../../support/run-tiled.js';

const GRIDS = [
  [1, 1],
  [1, 4],
  [3, 2],
  [3, 3],
] as const;

/**
 * Share of the largest output of a head. A mask head adds each output from the same terms in the same order, and has the same bits.
 * A Gemm that becomes a Conv adds its terms in another order: at most 4.8e-7 was measured, four units in the last place.
 */
const BOUNDS: Partial<Readonly<Record<Head, number>>> = { 'mask head': 0, 'mask head, DepthToSpace': 0 };
const OTHER_ORDER = 6e-7;

/** Fills no canvas of the grids evenly. */
const COUNT = 7;

describe.each(HEADS)('%s', name => {
  const head = makeHead(name);

  it.each(
    GRIDS,
  )('in float, on a grid of %i × %i with the last canvas partly filled, equals one by one within its bound', async (...grid) => {
    const model = await head;
    const rows = makeRows(model, COUNT);
    const alone = await runOneByOne(model, rows);
    const tiled = tileRois(model, { grid, mask: 'full', strides: 'any' });
    const { outputs, calls } = await runTiled(tiled, grid, rows);
    expect(calls).toBe(Math.ceil(COUNT / (grid[0] * grid[1])));
    expect(Object.keys(outputs)).toEqual(Object.keys(alone));
    for (const [output, values] of Object.entries(alone))
      expect(largestError(values, outputs[output] ?? new Float32Array(0))).toBeLessThanOrEqual(BOUNDS[name] ?? OTHER_ORDER);
  });

  it('in xint8 equals one by one byte for byte, as every sum is exact in float32', async () => {
    const model = await head;
    const rows = makeRows(model, COUNT);
    const quantized = await quantizeOn(model, rows, PRESETS.xint8);
    expect(boundAccumulators(quantized).filter(({ exactInFloat }) => !exactInFloat)).toEqual([]);
    const alone = await runOneByOne(quantized, rows);
    for (const mask of ['full', 'broadcast', 'input'] as const) {
      const grid = [2, 3] as const;
      const { outputs } = await runTiled(tileRois(quantized, { grid, mask, strides: [1, 2, 4] }), grid, rows);
      for (const [output, values] of Object.entries(alone)) expect(outputs[output]).toEqual(values);
    }
  });

  it('in a8w8, with float scales, differs from one by one by at most one step in at most 0.1 % of the outputs', async () => {
    const model = await head;
    const rows = makeRows(model, COUNT);
    const quantized = await quantizeOn(model, rows, PRESETS.a8w8);
    const alone = await runOneByOne(quantized, rows);
    const grid = [2, 3] as const;
    const { outputs } = await runTiled(tileRois(quantized, { grid, mask: 'full', strides: 'any' }), grid, rows);
    for (const [output, values] of Object.entries(alone)) {
      const steps = new Set(values);
      const step = Math.min(...[...steps].sort((a, b) => a - b).map((value, at, all) => value - (all[at - 1] ?? Number.NEGATIVE_INFINITY)));
      const differences = values
        .map((value, at) => Math.abs(value - (outputs[output]?.[at] ?? Number.NaN)))
        .filter(difference => difference !== 0);
      expect(differences.length).toBeLessThanOrEqual(values.length / 1000);
      expect(Math.max(0, ...differences)).toBeLessThanOrEqual(1.01 * step);
    }
  });
});

/** The largest difference, as a share of the largest magnitude. */
function largestError(expected: Float32Array, found: Float32Array): number {
  if (expected.length !== found.length) return Number.POSITIVE_INFINITY;
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return expected.reduce((most, value, at) => Math.max(most, Math.abs(value - (found[at] ?? Number.NaN))), 0) / largest;
}
