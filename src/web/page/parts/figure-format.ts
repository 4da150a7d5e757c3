/** Formats of figures with units, of their changes, and of figures side by side. */
import type { Figure } from '../../../base/figure.js';
import { formatDelta, formatFigure, formatFixed, formatShare } from '../../../report/numbers.js';

export type Unit = 'share' | 'ms' | undefined;

export function formatUnit(value: Figure, unit?: Unit): string {
  if (typeof value !== 'number') return value;
  if (unit === 'share') return formatShare(value);
  return unit === 'ms' ? `${formatFigure(Number(value.toPrecision(4)))} ms` : formatFigure(value);
}

/** Figures of one row, with as many decimals as the one that has most, so that they align. Very small and very large ones stay as they are. */
export function formatAligned(figures: readonly (Figure | undefined)[]): readonly (string | undefined)[] {
  const texts = figures.map(figure => (figure === undefined ? undefined : formatFigure(figure)));
  const decimals = Math.max(0, ...texts.map(text => /^\u2212?\d+\.(\d+)$/.exec(text ?? '')?.[1]?.length ?? 0));
  return texts.map((text, index) => {
    const figure = figures[index];
    return decimals > 0 && typeof figure === 'number' && /^\u2212?\d+(?:\.\d+)?$/.test(text ?? '') ? formatFixed(figure, decimals) : text;
  });
}

/** The difference of two numbers, with as many digits as tell it from nothing; whole numbers have none. That of shares is in percentage points. */
export function formatChange(before: number, after: number, unit?: Unit): string {
  const change = after - before;
  if (unit === 'share') return `${formatDelta(100 * change, Math.abs(change) >= 1e-3 ? 1 : digitsOf(100 * change))}\u202fpp`;
  if (Number.isInteger(before) && Number.isInteger(after)) return formatDelta(change, 0);
  return formatDelta(change, digitsOf(change));
}

/** Decimals that show three digits of a change. */
function digitsOf(change: number): number {
  return change === 0 ? 0 : Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.abs(change)))));
}
