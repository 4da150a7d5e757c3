/** Seeded random numbers of stages, equal in every run of the same action. */
import { createHash } from 'node:crypto';

/**
 * A generator of uniform doubles in [0, 1), multiples of 2⁻⁵³, seeded by `seed` and `label`.
 * xoshiro128** 1.1 (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018), seeded with SHA-256. Uses only integer arithmetic, so results are equal everywhere.
 */
export function seededRandom(seed: string, label: string): () => number {
  const words = createHash('sha256').update(`${seed}\0${label}`).digest();
  let a = words.readUInt32LE(0);
  let b = words.readUInt32LE(4);
  let c = words.readUInt32LE(8);
  let d = words.readUInt32LE(12) | 1;
  const next = (): number => {
    const scrambled = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return scrambled;
  };
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}

function rotate(x: number, by: number): number {
  return (x << by) | (x >>> (32 - by));
}
