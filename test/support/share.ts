/** A place in something as a share of its length, every place equally likely. (fast-check's doubles are likely to be tiny: they would all mean the first byte.) */
import fc from 'fast-check';

/** From 0 up to, and not, 1. */
export const share: fc.Arbitrary<number> = fc.integer({ min: 0, max: 2 ** 30 - 1 }).map(x => x / 2 ** 30);
