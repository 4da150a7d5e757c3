/**
 * CRC-32 in plain JavaScript, for code that runs before any module is loaded.
 * Loading Node's zlib takes longer than the checksum of a few megabytes here.
 */

const POLYNOMIAL = 0xedb88320;

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) remainder = (remainder & 1) === 0 ? remainder >>> 1 : (remainder >>> 1) ^ POLYNOMIAL;
  return remainder;
});

/** The CRC-32 of ISO 3309 and zlib, unsigned. */
export function plainCrc32(bytes: Uint8Array): number {
  let remainder = -1;
  for (let at = 0; at < bytes.length; at++) remainder = (TABLE[(remainder ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (remainder >>> 8);
  return ~remainder >>> 0;
}
