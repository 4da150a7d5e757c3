/** Short texts for range methods, used in reports and messages. */
import { assertNever } from '../../base/assert-never.js';
import type { PositionRule, RangeMethod } from './range-method.js';
import { describeEnds } from './range-methods.js';

/** 'min-max', 'percentile 99.99', 'power-of-two min-mse -1 … 3'. */
export function describeMethod(method: RangeMethod): string {
  return method.kind === 'power-of-two' ? `power-of-two ${describePosition(method.position)}` : describeEnds(method);
}

function describePosition(rule: PositionRule): string {
  switch (rule.kind) {
    case 'min-mse':
      return `min-mse ${rule.first} … ${rule.last}`;
    case 'non-overflow':
      return rule.of.kind === 'min-max' ? `non-overflow ${rule.rounding}` : `non-overflow ${rule.rounding} of ${describeMethod(rule.of)}`;
    default:
      return assertNever(rule);
  }
}
