/** The kernel that sums weights equals plain sums. */
import fc from 'fast-check';
import { openSums } from '../../../../src/quant/exact/sum-kernel.js';

describe('the kernel that sums weights', () => {
  it.each([
    [Int8Array, -128, 127],
    [Uint8Array, 0, 255],
  ] as const)('gives the sums of %p at any zero point, also where one follows the other in another array', (type, low, high) => {
    const value = fc.integer({ min: low, max: high });
    const run = fc.tuple(fc.array(value, { minLength: 1, maxLength: 60 }), value);
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 8 }), runs => {
        const sums = openSums(type.from(runs.flatMap(([values]) => values)));
        const extreme = openSums(new type(8192).fill(low));
        let start = 0;
        for (const [values, zeroPoint] of runs) {
          const shifted = values.map(one => one - zeroPoint);
          const expected = [shifted.reduce((sum, one) => sum + one, 0), shifted.reduce((sum, one) => sum + Math.abs(one), 0)];
          expect(sums(start, start + values.length, zeroPoint)).toEqual(expected);
          expect(extreme(0, 8192, high)).toEqual([8192 * (low - high), 8192 * (high - low)]);
          start += values.length;
        }
      }),
      { numRuns: 50 },
    );
  });

  it('keeps two sums of one array apart', () => {
    const values = Int8Array.from({ length: 200_000 }, (_, i) => (i < 100_000 ? 1 : 2));
    const [left, right] = [openSums(values), openSums(values)];
    expect([left(0, 8, 0)[0], right(150_000, 150_008, 0)[0], left(8, 16, 0)[0]]).toEqual([8, 16, 8]);
  });

  it('reads on where its memory ends', () => {
    const sums = openSums(Int8Array.from({ length: 200_000 }, (_, i) => (i % 251) - 125));
    for (let start = 0; start < 200_000; start += 8000) {
      let expected = 0;
      for (let i = start; i < start + 8000; i++) expected += (i % 251) - 125;
      expect(sums(start, start + 8000, 0)[0]).toBe(expected);
    }
  });
});
