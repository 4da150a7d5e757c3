/** Is the next build right after one that died between two of its writes? A few points here; the slow suite plays all of them. */
import { type CrashPlan, playCrashPoints } from '../../support/crash-points.js';

/** Which few is another choice every day, and the same all day. */
const day = Math.floor(Date.now() / 86_400_000);

const plans: readonly CrashPlan[] = [
  { occasion: 'cold', how: 'before', stride: 67, first: 1 + (day % 67) },
  { occasion: 'edit', how: 'torn', stride: 67, first: 1 + (day % 67) },
  { occasion: 'restore', how: 'before', stride: 41, first: 1 + (day % 41) },
];

it.each(plans)('$occasion, $how some writes', plan => {
  expect(playCrashPoints(plan)).toBeGreaterThan(0);
}, 120_000);
