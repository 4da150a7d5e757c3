/** Number formats of the page, one per kind of number, with a typographic minus sign so that columns align. */

import { EQUAL, type Figure } from '../base/figure.js';

const MINUS = '\u2212';

/** "0.6804", "−0.0050". */
export function formatFixed(value: number, digits: number): string {
  return signed(value, Math.abs(value).toFixed(digits));
}

/** "+0.0004", "−0.0050", "0.0000". */
export function formatDelta(value: number, digits: number): string {
  const text = formatFixed(value, digits);
  return value > 0 && Number(value.toFixed(digits)) !== 0 ? `+${text}` : text;
}

/** Four significant digits; very small and very large ones with a power of ten. "0", "0.01866", "−2.118", "1.2e−7". */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 1e-4 || size >= 1e6) return signed(value, size.toExponential(2).replace('e+', 'e').replace('e-', `e${MINUS}`));
  return signed(value, String(Number(size.toPrecision(4))));
}

/** As `formatNumber`; "equal" is kept. */
export function formatFigure(figure: Figure): string {
  return figure === EQUAL ? EQUAL : formatNumber(figure);
}

/** "12,288". */
export function formatCount(value: number): string {
  return signed(value, String(Math.abs(Math.round(value))).replace(/\B(?=(?:\d{3})+$)/g, ','));
}

/** "99.4 %". Only exact values are shown as 0 % or 100 %. */
export function formatShare(share: number): string {
  const percent = 100 * share;
  if (share > 0 && percent < 0.05) return '<\u20090.1\u202F%';
  if (share < 1 && percent > 99.95) return '>\u200999.9\u202F%';
  return `${formatFixed(percent, 1)}\u202F%`;
}

/** SQNR in dB; "equal" for null, which means no difference. */
export function formatDb(db: Figure | null): string {
  return db === null || db === EQUAL ? 'equal' : formatFixed(db, 1);
}

/** Milliseconds with three digits at least; without the unit. */
export function formatMs(ms: number): string {
  return formatFixed(ms, ms >= 100 ? 0 : ms >= 10 ? 1 : ms >= 1 ? 2 : 3);
}

function signed(value: number, size: string): string {
  return value < 0 && Number(size.replace(MINUS, '-')) !== 0 ? `${MINUS}${size}` : size;
}
