/** Base64 forms of long number arrays in JSON: counts as variable-length integers, floats as float32. */
import { QuantError } from '../integers/quant-error.js';

/** Bytes of a count below 2⁵⁶. */
const MAX_BYTES = 8;

/** Seven bits per byte, low bits first; the high bit is set on all bytes of a count but the last. */
export function encodeCounts(counts: ArrayLike<number>): string {
  const bytes = Buffer.alloc(MAX_BYTES * counts.length);
  let length = 0;
  for (let i = 0; i < counts.length; i++) {
    let count = counts[i] as number;
    while (count >= 128) {
      bytes[length++] = (count % 128) + 128;
      count = Math.floor(count / 128);
    }
    bytes[length++] = count;
  }
  return bytes.toString('base64', 0, length);
}

/** @throws QuantError `bad-sketches` if a count is truncated or above 2⁵³. */
export function decodeCounts(text: string): Float64Array {
  return decodeCountBytes(Buffer.from(text, 'base64'));
}

/** Counts from bytes, as `encodeCounts` writes them before Base64. @throws QuantError `bad-sketches` if a count is truncated or above 2⁵³. */
export function decodeCountBytes(bytes: Uint8Array): Float64Array {
  const counts = new Float64Array(bytes.length);
  let next = 0;
  let count = 0;
  let unit = 1;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte < 128 && unit === 1) {
      counts[next++] = byte;
      continue;
    }
    count += (byte & 127) * unit;
    if (byte >= 128) {
      unit *= 128;
    } else {
      if (!(count <= Number.MAX_SAFE_INTEGER)) throw new QuantError('bad-sketches', 'a histogram count is above 2^53');
      counts[next++] = count;
      count = 0;
      unit = 1;
    }
  }
  if (unit !== 1) throw new QuantError('bad-sketches', 'histogram counts are truncated');
  return counts.slice(0, next);
}

/** Little-endian float32. */
export function encodeFloats(values: Float32Array): string {
  const bytes = Buffer.alloc(4 * values.length);
  for (let i = 0; i < values.length; i++) bytes.writeFloatLE(values[i] as number, 4 * i);
  return bytes.toString('base64');
}

/** @throws QuantError `bad-sketches` if a number is truncated. */
export function decodeFloats(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0) throw new QuantError('bad-sketches', 'a float32 array is truncated');
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}
