/** Figures, with their difference from an earlier one. */
import type { Figure } from '../../../base/figure.js';
import { formatChange, formatUnit, type Unit } from './figure-format.js';

export function FigureText({ value, previous, unit }: { readonly value: Figure; readonly previous?: Figure; readonly unit?: Unit }) {
  const change = typeof value === 'number' && typeof previous === 'number' ? formatChange(previous, value, unit) : undefined;
  return (
    <span class="figure-text">
      {formatUnit(value, unit)}
      {change !== undefined && (
        <span class="change" title={`${unit === 'share' ? 'percentage points; ' : ''}before: ${formatUnit(previous ?? value, unit)}`}>
          {' '}
          {change}
        </span>
      )}
    </span>
  );
}
