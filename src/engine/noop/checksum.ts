/**
 * A checksum for code that runs before any module is loaded, and once.
 * A loop over bytes is interpreted there, or makes the compiler start: that takes milliseconds, and so does loading Node's zlib.
 * Arithmetic on one large integer is a single call.
 */

const PRIME = 2n ** 61n - 1n;
const SLICE = 2 ** 20;

/** The bytes as one number in base 256, modulo the prime 2⁶¹ − 1, slice after slice; as hexadecimal digits. */
export function checksumOf(bytes: Buffer): string {
  let sum = 0n;
  for (let at = 0; at < bytes.length; at += SLICE) {
    // The 1 makes leading zeros count.
    sum = BigInt(`0x1${sum.toString(16)}${bytes.toString('hex', at, at + SLICE)}`) % PRIME;
  }
  return sum.toString(16);
}
