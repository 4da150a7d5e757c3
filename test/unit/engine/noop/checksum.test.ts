/** The checksum of the no-op record finds what happens to files. */
import fc from 'fast-check';
import { checksumOf } from '../../../../src/engine/noop/checksum.js';

/** Places after the end stay as they are. */
function flip(bytes: Buffer, place: number, bits: number): void {
  bytes[place] = (bytes[place] ?? 0) ^ bits;
}

const someBytes = fc.uint8Array({ minLength: 1, maxLength: 3_000 }).map(bytes => Buffer.from(bytes));

it('finds every change within six bytes', () => {
  const change = fc.tuple(someBytes, fc.nat(), fc.uint8Array({ minLength: 6, maxLength: 6 }));
  fc.assert(
    fc.property(change, ([bytes, place, bits]) => {
      const changed = Buffer.from(bytes);
      for (const [at, bit] of bits.entries()) flip(changed, (place % bytes.length) + at, bit);
      return changed.equals(bytes) || checksumOf(changed) !== checksumOf(bytes);
    }),
  );
});

it('finds zeros that are added or cut off at either end', () => {
  const zero = Buffer.alloc(1);
  fc.assert(
    fc.property(someBytes, bytes => {
      // Zeros before and after zeros are the same bytes.
      const texts = [bytes, Buffer.concat([bytes, zero]), Buffer.concat([zero, bytes])];
      return new Set(texts.map(checksumOf)).size === new Set(texts.map(text => text.toString('hex'))).size;
    }),
  );
});

it('is the number modulo 2⁶¹ − 1, with a 1 before it', () => {
  expect(checksumOf(Buffer.alloc(0))).toBe('0');
  // 0x10 and 8 bytes: 16·2⁶⁴ + x; 2⁶⁴ is 8 modulo the prime.
  expect(checksumOf(Buffer.from('0000000000000005', 'hex'))).toBe((16n * 8n + 5n).toString(16));
});

it('goes on over slices of a megabyte', () => {
  const bytes = Buffer.alloc(3 * 2 ** 20 + 5, 'tanren');
  const sum = checksumOf(bytes);
  for (const place of [0, 2 ** 20 - 1, 2 ** 20, 3 * 2 ** 20 + 4]) {
    const changed = Buffer.from(bytes);
    flip(changed, place, 1);
    expect(checksumOf(changed)).not.toBe(sum);
  }
});
