/** The histogram kernel with given edges equals the plain code. */
import fc from 'fast-check';
import { countEdgesScalar, edgesOf, planBinning } from '../../../../src/quant/ort-compat/ort-histogram.js';
import { countEdgesByKernel } from '../../../../src/quant/ort-compat/ort-kernel.js';
import { sketchTensor } from '../../../../src/quant/sketch/sketch.js';

const value = fc.oneof(
  fc.float({ noNaN: true, noDefaultInfinity: true, min: -(2 ** 66), max: 2 ** 66 }),
  fc.integer({ min: -8, max: 8 }).map(i => i / 4),
  fc.constantFrom(0, -0),
);

describe('the histogram kernel with given edges', () => {
  it.each([
    ['magnitudes', 2048],
    ['values', 2048],
    ['values', 128],
    ['values', 7],
    ['magnitudes', 4096],
  ] as const)('counts %s in %p bins as the plain code does', (of, bins) => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 4, maxLength: 300 }), all => {
        const data = Float32Array.from(all.slice(0, all.length - (all.length % 4)));
        const binning = planBinning(sketchTensor(data), of, bins);
        const edges = edgesOf(binning);
        const [plain, fast] = [new Float64Array(bins), new Float64Array(bins)];
        countEdgesScalar(plain, data, binning, edges);
        countEdgesByKernel(fast, data, binning, edges);
        expect(fast).toEqual(plain);
        expect(fast.reduce((sum, count) => sum + count, 0)).toBe(data.length);
      }),
    );
  });

  it('an element on an edge is in the bin above, and the largest element in the last bin', () => {
    const data = Float32Array.from({ length: 100_000 }, (_, i) => Math.sin(i));
    const binning = planBinning(sketchTensor(data), 'values', 2048);
    const edges = edgesOf(binning);
    const onEdges = edges.slice(0, 2048);
    const counts = new Float64Array(2048);
    countEdgesByKernel(counts, onEdges, binning, edges);
    countEdgesByKernel(counts, new Float32Array(4).fill(binning.last), binning, edges);
    expect([...counts]).toEqual(Array.from({ length: 2048 }, (_, bin) => (bin === 2047 ? 5 : 1)));
  });
});
