/** Figures, with their difference from an earlier one. */
import type { Figure } from '../../../base/figure.js';
import { formatDelta, formatFigure, formatShare } from '../../../report/numbers.js';

export type Unit = 'share' | 'ms' | undefined;

export function formatUnit(value: Figure, unit?: Unit): string {
  if (typeof value !== 'number') return value;
  if (unit === 'share') return formatShare(value);
  return unit === 'ms' ? `${formatFigure(Number(value.toPrecision(4)))} ms` : formatFigure(value);
}

/** The difference of two numbers, with as many digits as tell it from nothing. */
export function formatChange(before: number, after: number): string {
  const change = after - before;
  const digits = change === 0 ? 0 : Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.abs(change)))));
  return formatDelta(change, digits);
}

export function FigureText({ value, previous, unit }: { readonly value: Figure; readonly previous?: Figure; readonly unit?: Unit }) {
  const change = typeof value === 'number' && typeof previous === 'number' ? formatChange(previous, value) : undefined;
  return (
    <span class="figure-text">
      {formatUnit(value, unit)}
      {change !== undefined && (
        <span class="change" title={`before: ${formatUnit(previous ?? value, unit)}`}>
          {' '}
          {change}
        </span>
      )}
    </span>
  );
}
