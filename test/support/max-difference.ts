/** The greatest difference between two lists of numbers. */

/** The largest absolute difference of two lists of one length; NaN where one of them holds a NaN that the other lacks. */
export function maxDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new Error(`${a.length} numbers against ${b.length}`);
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = Object.is(a[i], b[i]) ? 0 : Math.abs((a[i] ?? Number.NaN) - (b[i] ?? Number.NaN));
    if (Number.isNaN(difference)) return Number.NaN;
    largest = Math.max(largest, difference);
  }
  return largest;
}
