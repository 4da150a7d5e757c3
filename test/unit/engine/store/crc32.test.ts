/** The plain CRC-32 equals that of zlib. */
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { plainCrc32 } from '../../../../src/engine/store/files/crc32.js';

it('gives the CRC-32 of zlib for any bytes', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 3_000 }), bytes => plainCrc32(bytes) === crc32(bytes)));
});

it('gives the check value of the standard', () => {
  expect(plainCrc32(Buffer.from('123456789'))).toBe(0xcbf43926);
});
