/** BFP16 on blocks worked by hand. */
import { roundToBfp16 } from '../../../../src/tensor/numeric/block-float.js';

const round = (values: readonly number[], dims: readonly number[] = [1, values.length]): number[] =>
  Array.from(roundToBfp16(Float32Array.from(values), dims));

describe('roundToBfp16', () => {
  it.each([
    // 2^E is 1: multiples of 1/64.
    ['a largest magnitude of 1', [1, 0.5, 1 / 64, 1 / 128, 3 / 128, -1 / 128, -3 / 128, 0], [1, 0.5, 1 / 64, 0, 2 / 64, 0, -2 / 64, 0]],
    // 1.999 / (1/64) is 127.9: it would be 128, and is limited to 127.
    ['magnitudes that round above 127 multiples', [1.999, -1.999, 1.984375, 0.01], [127 / 64, -127 / 64, 127 / 64, 1 / 64]],
    // 2^E is 64: multiples of 1.
    ['a largest magnitude of 100', [100, 0.5, 1.5, 2.5, -0.5, -1.5, 99.4, 0.49], [100, 0, 2, 2, 0, -2, 99, 0]],
    ['zeros', [0, 0, 0], [0, 0, 0]],
    // E is −3, of 0.2: multiples of 2^-9.
    ['small numbers', [0.2, 0.001], [102 / 512, 1 / 512]],
    [
      'infinity and NaN, which do not count',
      [Number.POSITIVE_INFINITY, Number.NaN, 1, 1 / 100],
      [Number.POSITIVE_INFINITY, Number.NaN, 1, 1 / 64],
    ],
    // Subnormal numbers have the exponent bits 0, that is E = −127: multiples of 2^-133.
    ['subnormal numbers', [3 * 2 ** -134, 2 ** -130], [2 * 2 ** -133, 2 ** -130]],
  ])('rounds a block with %s', (_, values, expected) => {
    expect(round(values).map(value => value + 0)).toEqual(expected);
  });

  it('has an exponent per block of eight along axis 1, and a shorter last block', () => {
    const first = [64, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4];
    expect(round([...first, 0.4, 1])).toEqual([64, 0, 0, 0, 0, 0, 0, 0, 26 / 64, 1]);
  });

  it('takes blocks over channels, not over pixels', () => {
    // Two channels of two pixels: blocks are (64, 0.4) and (0.4, 1).
    expect(round([64, 0.4, 0.4, 1], [1, 2, 2])).toEqual([64, 26 / 64, 0, 1]);
  });
});
