/** The summary kernel equals the scalar code. */
import fc from 'fast-check';
import { gridExponent } from '../../../../src/quant/sketch/histogram.js';
import { addScalar, countScalar, newBins, newLanes } from '../../../../src/quant/sketch/scalar-summary.js';
import { addByKernel, canCountByKernel, countByKernel } from '../../../../src/quant/sketch/summary-kernel.js';

/** Whole groups of four: float32 numbers of every size, with zeros of both signs. */
const groups = fc
  .array(fc.oneof(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(0, -0, 1, -1, 2 ** -149, -(2 ** -149))), {
    minLength: 4,
    maxLength: 80,
  })
  .map(values => Float32Array.from(values.slice(0, values.length - (values.length % 4))));
const moderate = fc
  .array(fc.float({ noNaN: true, min: -50_000, max: 50_000 }), { minLength: 4, maxLength: 200 })
  .map(values => Float32Array.from(values.slice(0, values.length - (values.length % 4))));

describe('the summary kernel', () => {
  it.each([
    ['any numbers', groups],
    ['moderate numbers', moderate],
  ])('sums %s with the bits of the scalar code', (_name, data) => {
    fc.assert(
      fc.property(data, data, (first, second) => {
        const [plain, fast] = [newLanes(), newLanes()];
        for (const part of [first, second]) {
          addScalar(plain, part);
          addByKernel(fast, part);
        }
        expect(fast).toEqual(plain);
      }),
    );
  });

  it('adds to existing counts with the results of the scalar code', () => {
    fc.assert(
      fc.property(moderate, fc.integer({ min: -30, max: 3 }), (values, power) => {
        const data = values.map(x => x * 2 ** power);
        const exponent = gridExponent(Math.max(...data.map(Math.abs)));
        fc.pre(canCountByKernel(exponent));
        const [plain, fast] = [newBins(), newBins()];
        for (let round = 0; round < 2; round++) {
          countScalar(plain, exponent, data);
          countByKernel(fast, exponent, data);
        }
        expect(fast).toEqual(plain);
      }),
    );
  });

  it('counts tensors of many chunks, and more elements than a bin of its tables can hold', () => {
    const data = new Float32Array(2 ** 24 + 40_000).fill(0.999);
    data.set([1, -1, -(2 ** -149)], 12_345);
    const [plain, fast] = [newBins(), newBins()];
    countScalar(plain, -11, data);
    countByKernel(fast, -11, data);
    expect(fast.counts.every((count, bin) => count === plain.counts[bin])).toBe(true);
    expect(fast.offsets.every((offset, bin) => offset === plain.offsets[bin])).toBe(true);
  });

  it('does not support grids whose float32 products lose a sign or overflow', () => {
    expect([canCountByKernel(-119), canCountByKernel(8)]).toEqual([true, true]);
    expect([canCountByKernel(-120), canCountByKernel(9)]).toEqual([false, false]);
  });
});
