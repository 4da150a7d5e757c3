/** Tests of packed integers. */
import { packInts, unpackInts } from '../../../../src/tensor/numeric/int4.js';
import { failureOf } from '../../../support/error-code.js';

describe('packed integers', () => {
  it.each([
    ['int4', [-8, 7, -1, 0, 3], [0x78, 0x0f, 0x03]],
    ['uint4', [0, 15, 9], [0xf0, 0x09]],
    ['int2', [-2, 1, -1, 0, 1], [0b00110110, 0b01]],
    ['uint2', [3, 0, 1, 2], [0b10010011]],
  ] as const)('%s lies with its first element in the low bits', (dtype, values, bytes) => {
    expect([...packInts(dtype, values)]).toEqual([...bytes]);
    expect([...unpackInts(dtype, Uint8Array.from(bytes), values.length)]).toEqual([...values]);
  });

  it.each([
    ['int4', 8],
    ['uint4', -1],
    ['int2', 0.5],
  ] as const)('%s does not hold %p', async (dtype, value) => {
    expect(await failureOf(() => packInts(dtype, [value]))).toMatchObject({ code: 'value-range' });
  });

  it('bytes of another length are refused', async () => {
    expect(await failureOf(() => unpackInts('int4', new Uint8Array(3), 4))).toMatchObject({ code: 'length-mismatch' });
  });
});
