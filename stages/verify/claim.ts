/** A claim that one of two threads gets: a number in shared memory. */

export type Claim = SharedArrayBuffer;

/** The answer of the thread that comes too late. */
export const CLAIMED_BEFORE = 'claimed-before';

export function newClaim(): Claim {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

/** Whether the caller is the first to take it. */
export function takeClaim(claim: Claim): boolean {
  return Atomics.compareExchange(new Int32Array(claim), 0, 0, 1) === 0;
}
