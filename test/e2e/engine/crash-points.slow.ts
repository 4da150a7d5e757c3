/** After a build that died between any two of its writes, or in the middle of one, the next build is right. */
import { type CrashPlan, playCrashPoints } from '../../support/crash-points.js';
import { strideOfPoints } from '../../support/rounds.js';

// With TANREN_ROUNDS_SHARE a share of the points.
const stride = strideOfPoints();

const plans: readonly CrashPlan[] = (['cold', 'edit', 'restore', 'gc'] as const).flatMap(occasion =>
  (['before', 'torn'] as const).map(how => ({ occasion, how, stride })),
);

const besides: readonly CrashPlan[] = (['edit', 'restore'] as const).flatMap(occasion =>
  (['before', 'torn'] as const).map(how => ({ occasion, how, stride, beside: 'a file' })),
);

const undone: readonly CrashPlan[] = [
  { occasion: 'undone', how: 'before', stride },
  { occasion: 'undone', how: 'before', stride: 3 * stride, beside: 'a file' },
];

it.each(besides)('$occasion, $how every write, beside files that no build wrote, which stay', plan => {
  expect(playCrashPoints(plan)).toBeGreaterThan(10 / stride);
}, 600_000);

it.each(plans)('$occasion, $how every write', plan => {
  expect(playCrashPoints(plan)).toBeGreaterThan(10 / stride);
}, 600_000);

it.each(undone)('an edit, taken back after a build that died before any of its writes', plan => {
  expect(playCrashPoints(plan)).toBeGreaterThan(10 / plan.stride);
}, 900_000);
