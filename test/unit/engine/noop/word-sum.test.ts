/** The checksum of words finds what happens to files. */
import fc from 'fast-check';
import { sumWords } from '../../../../src/engine/noop/word-sum.js';

const someBytes = fc.uint8Array({ minLength: 1, maxLength: 3_000 });

it('finds every change within four aligned bytes', () => {
  const change = fc.tuple(
    someBytes,
    fc.nat(),
    fc.uint8Array({ minLength: 4, maxLength: 4 }).filter(bits => bits.some(bit => bit !== 0)),
  );
  fc.assert(
    fc.property(change, ([bytes, place, bits]) => {
      const word = (place % Math.ceil(bytes.length / 4)) * 4;
      const changed = bytes.map((byte, at) => byte ^ (bits[at - word] ?? 0));
      return changed.every((byte, at) => byte === bytes[at]) || sumWords(changed) !== sumWords(bytes);
    }),
  );
});

it('finds zeros that are added or cut off at the end', () => {
  fc.assert(fc.property(someBytes, bytes => sumWords(Buffer.concat([bytes, Buffer.alloc(1)])) !== sumWords(bytes)));
});

it('finds the same bit changed in two words, and words that changed places', () => {
  const text = Buffer.from('0123456789abcdefghijklmnopqrstuv');
  for (const bit of [0x01, 0x80]) {
    const changed = Uint8Array.from(text, (byte, at) => (at === 3 || at === 11 ? byte ^ bit : byte));
    expect(sumWords(changed)).not.toBe(sumWords(text));
  }
  expect(sumWords(Buffer.from('4567012389abcdefghijklmnopqrstuv'))).not.toBe(sumWords(text));
});

it('does not change between versions: records of a build are read by the next one', () => {
  expect(sumWords(Buffer.from('123456789'))).toBe(39_323_434);
});
