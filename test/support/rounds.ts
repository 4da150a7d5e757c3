/** How many rounds the tests with chance play, and how many points those that go through all of them. */

/**
 * Of `full` rounds those that this run plays: all, or the share that TANREN_ROUNDS_SHARE names, as 0.3. The rounds that are left are the first ones of the
 * same seed.
 */
export function roundsOf(full: number): number {
  return Math.ceil(full * share());
}

/** Every how many-th point is played where all of them are too many: 1 for all. */
export function strideOfPoints(): number {
  return Math.round(1 / share());
}

function share(): number {
  const share = Number(process.env.TANREN_ROUNDS_SHARE ?? 1);
  if (!(share > 0 && share <= 1))
    throw new Error(`TANREN_ROUNDS_SHARE is "${process.env.TANREN_ROUNDS_SHARE}": it is above 0, and at most 1`);
  return share;
}
