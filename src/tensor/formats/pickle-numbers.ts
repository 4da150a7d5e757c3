/** Integers of pickles, as text and as bytes. */
import type { ByteCursor } from './byte-cursor.js';
import { malformed } from './pickle-error.js';

const MAX_LONG_BYTES = 256;

/** An integer, as a number if it is safe. Protocol 0 writes booleans as 00 and 01. */
export function parseInteger(text: string): number | bigint | boolean {
  if (text === '00' || text === '01') return text === '01';
  if (!/^-?\d{1,600}$/.test(text)) throw malformed('an integer is malformed');
  return narrow(BigInt(text));
}

/** Little-endian two's complement of any length. */
export function takeLong(cursor: ByteCursor, length: number): number | bigint {
  if (length > MAX_LONG_BYTES) throw malformed(`an integer has ${length} bytes`);
  const bytes = cursor.take(length);
  const unsigned = bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return narrow(BigInt.asIntN(8 * length, unsigned));
}

function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
