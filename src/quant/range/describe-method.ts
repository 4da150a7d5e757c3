/** Short texts for range methods, used in reports and messages. */
import { assertNever } from '../../base/assert-never.js';
import type { RangeMethod } from './range-method.js';

/** 'min-max', 'percentile 99.99', 'power-of-two min-mse -1 … 3'. */
export function describeMethod(method: RangeMethod): string {
  switch (method.kind) {
    case 'min-max':
    case 'ort-moving-average':
      return method.kind;
    case 'percentile':
      return `percentile ${method.percentile}${method.sides === 'each' ? ' of each side' : ''}`;
    case 'entropy':
      return `entropy of ${method.levels} levels`;
    case 'mse':
      return `mse of ${method.candidates} candidates`;
    case 'power-of-two':
      return `power-of-two ${describePosition(method.position)}`;
    case 'ort-percentile':
      return `ort-percentile ${method.percentile} of ${method.of} in ${method.bins} bins`;
    case 'ort-entropy':
      return `ort-entropy of ${method.quantizedBins} levels in ${method.bins} bins`;
    default:
      return assertNever(method);
  }
}

function describePosition(rule: Extract<RangeMethod, { readonly kind: 'power-of-two' }>['position']): string {
  switch (rule.kind) {
    case 'min-mse':
      return `min-mse ${rule.first} … ${rule.last}`;
    case 'non-overflow':
      return rule.of.kind === 'min-max' ? `non-overflow ${rule.rounding}` : `non-overflow ${rule.rounding} of ${describeMethod(rule.of)}`;
    default:
      return assertNever(rule);
  }
}
