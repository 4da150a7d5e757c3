/** Tests of 16-bit floats. */
import { readFile } from 'node:fs/promises';
import { decodeNpz } from '../../../../src/tensor/formats/npz.js';
import {
  decodeBfloat16,
  decodeBfloat16Array,
  decodeFloat16,
  decodeFloat16Array,
  encodeBfloat16,
  encodeFloat16,
  encodeFloat16Array,
} from '../../../../src/tensor/numeric/half.js';
import { fixturePath } from '../../../support/fixtures.js';

describe('float16', () => {
  it('every number that is not NaN survives decoding and encoding', () => {
    const all = Uint16Array.from({ length: 65536 }, (_, bits) => bits).filter(bits => (bits & 0x7fff) <= 0x7c00);
    expect(encodeFloat16Array(decodeFloat16Array(all))).toEqual(all);
  });

  it('rounds as NumPy does: half to even, into subnormals, to infinity', async () => {
    const archive = decodeNpz(await readFile(fixturePath('npy', 'halves.npz')));
    const bits = archive.get('bits');
    const expected = archive.get('float16');
    if (bits.dtype !== 'uint32' || expected.dtype !== 'uint16') throw new Error('unexpected fixture');
    const values = new Float32Array(bits.data.buffer, bits.data.byteOffset, bits.data.length);
    expect(encodeFloat16Array(values)).toEqual(expected.data);
  });

  it('a NaN stays a NaN', () => {
    expect(decodeFloat16(encodeFloat16(Number.NaN))).toBeNaN();
    expect(decodeFloat16(0x7c01)).toBeNaN();
  });
});

describe('bfloat16', () => {
  it.each([
    [1, 0x3f80],
    [-2.5, 0xc020],
    [1 + 2 ** -8, 0x3f80],
    [1 + 3 * 2 ** -8, 0x3f82],
    [3.4028234663852886e38, 0x7f80],
    [Number.NEGATIVE_INFINITY, 0xff80],
    [2 ** -149, 0x0000],
    [2 ** -133, 0x0001],
  ])('%p is stored as %p: rounded half to even', (value, bits) => {
    expect(encodeBfloat16(value)).toBe(bits);
  });

  it('every number that is not NaN survives decoding and encoding', () => {
    for (let bits = 0; bits < 65536; bits++) if ((bits & 0x7fff) <= 0x7f80) expect(encodeBfloat16(decodeBfloat16(bits))).toBe(bits);
  });

  it('arrays decode as scalars do, and a NaN stays a NaN', () => {
    expect([...decodeBfloat16Array(Uint16Array.of(0x3f80, 0xc020))]).toEqual([1, -2.5]);
    expect(decodeBfloat16(encodeBfloat16(Number.NaN))).toBeNaN();
  });
});
