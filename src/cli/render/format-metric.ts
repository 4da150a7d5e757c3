/** Formats single figures and their differences. It imports few modules, because a build with nothing to do loads it. */
import { differenceOf, EQUAL, type Figure } from '../../base/figure.js';

/** Whether two figures differ by no more than their spreads together. */
export function isWithin(before: Figure | undefined, after: Figure | undefined, spread: number | undefined): boolean {
  const difference = before === undefined || after === undefined ? undefined : differenceOf(before, after);
  return difference !== undefined && spread !== undefined && Math.abs(difference) <= spread;
}

/** "equal" and integers are printed unchanged, other numbers with four decimals, very small and very large ones in exponential notation. */
export function formatMetric(value: Figure): string {
  if (value === EQUAL) return value;
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e6 ? value.toFixed(4) : value.toExponential(2);
}

/** Formats a difference with a sign and as many decimals as the value beside it. */
export function formatSigned(delta: number, value: number): string {
  const size = Math.abs(delta);
  const text = Number.isInteger(delta) && Number.isInteger(value) ? String(size) : size.toFixed(4);
  return delta < 0 && Number(text) !== 0 ? `−${text}` : `+${text}`;
}
