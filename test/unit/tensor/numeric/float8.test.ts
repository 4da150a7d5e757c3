/** Tests of 8-bit and 4-bit floats. */
import { decodeFloat4e2m1, decodeFloat8, decodeFloat8e8m0, encodeFloat8, type Float8 } from '../../../../src/tensor/numeric/float8.js';

const FORMATS: readonly Float8[] = ['float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz'];

describe('8-bit floats', () => {
  it.each(FORMATS)('every value of %s survives decoding and encoding', dtype => {
    const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
    const values = decodeFloat8(dtype, codes);
    const kept = codes.filter(code => !Number.isNaN(values[code]));
    expect(encodeFloat8(dtype, decodeFloat8(dtype, kept), 'overflow')).toEqual(kept);
  });

  it.each([
    ['float8e4m3fn', 448],
    ['float8e4m3fnuz', 240],
    ['float8e5m2', 57344],
    ['float8e5m2fnuz', 57344],
  ] as const)('the largest %s is %p; beyond it values saturate or overflow', (dtype, largest) => {
    const beyond = [2 * largest, -2 * largest, Number.POSITIVE_INFINITY];
    expect([...decodeFloat8(dtype, encodeFloat8(dtype, beyond))]).toEqual([largest, -largest, largest]);
    const lost =
      dtype === 'float8e5m2'
        ? [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
        : [Number.NaN, Number.NaN, Number.NaN];
    expect([...decodeFloat8(dtype, encodeFloat8(dtype, beyond, 'overflow'))]).toEqual(lost);
    expect(decodeFloat8(dtype, encodeFloat8(dtype, [Number.NaN]))[0]).toBeNaN();
  });

  it('ties go to the even code', () => {
    expect([...encodeFloat8('float8e4m3fn', [1 + 1 / 16, 1 + 3 / 16])]).toEqual([0x38, 0x3a]);
  });

  it('powers of two and 4-bit floats are decoded', () => {
    expect([...decodeFloat8e8m0(Uint8Array.of(127, 130, 0, 255))]).toEqual([1, 8, 2 ** -127, Number.NaN]);
    expect([...decodeFloat4e2m1(Uint8Array.of(1, 7, 15))]).toEqual([0.5, 6, -6]);
  });
});
