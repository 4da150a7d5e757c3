/** How are histogram counts written in JSON? As base64 of variable-length integers: most counts are small, and there are thousands. */
import { QuantError } from './quant-error.js';

/** Seven bits per byte, low bits first, the high bit set on all but the last byte of a count. */
export function encodeCounts(counts: ArrayLike<number>): string {
  const bytes: number[] = [];
  for (let i = 0; i < counts.length; i++) {
    let count = counts[i] as number;
    while (count >= 128) {
      bytes.push((count % 128) + 128);
      count = Math.floor(count / 128);
    }
    bytes.push(count);
  }
  return Buffer.from(bytes).toString('base64');
}

/** @throws QuantError `bad-sketches` where a count is cut off or above 2⁵³. */
export function decodeCounts(text: string): number[] {
  const counts: number[] = [];
  let [count, unit] = [0, 1];
  for (const byte of Buffer.from(text, 'base64')) {
    count += (byte % 128) * unit;
    if (!Number.isSafeInteger(count)) throw new QuantError('bad-sketches', 'a histogram count is above 2^53');
    if (byte >= 128) {
      unit *= 128;
    } else {
      counts.push(count);
      [count, unit] = [0, 1];
    }
  }
  if (unit !== 1) throw new QuantError('bad-sketches', 'histogram counts are cut off');
  return counts;
}
