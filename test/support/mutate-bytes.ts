/** Damages bytes: cuts them off and changes some of them. */
import fc from 'fast-check';
import { share } from './share.js';

export interface Damage {
  /** Share of the file that is left, 0 to 1. */
  readonly kept: number;
  /** Places (as shares of the file) and the bits that are flipped there. */
  readonly flips: readonly (readonly [place: number, bits: number])[];
}

export const damages: fc.Arbitrary<Damage> = fc.record({
  kept: fc.oneof(fc.constant(1), share),
  flips: fc.array(fc.tuple(share, fc.integer({ min: 1, max: 255 })), {
    maxLength: 4,
  }),
});

export function damageBytes(bytes: Uint8Array, { kept, flips }: Damage): Uint8Array {
  const damaged = bytes.slice(0, Math.round(kept * bytes.length));
  for (const [place, bits] of flips) {
    const at = Math.floor(place * damaged.length);
    if (at < damaged.length) damaged[at] = (damaged[at] ?? 0) ^ bits;
  }
  return damaged;
}
