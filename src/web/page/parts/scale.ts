/** Linear scales of charts, and round numbers for their ticks. */

export interface Scale {
  (value: number): number;
  readonly ticks: readonly number[];
}

/** Maps `domain` to `range`; an empty domain maps to the middle. */
export function linearScale(domain: readonly [number, number], range: readonly [number, number], most = 6): Scale {
  const [low, high] = domain;
  const [from, to] = range;
  const map = (value: number): number => (high === low ? (from + to) / 2 : from + ((value - low) / (high - low)) * (to - from));
  return Object.assign(map, { ticks: roundTicks(low, high, most) });
}

/** Multiples of 1, 2 or 5 times a power of ten, within the bounds. */
export function roundTicks(low: number, high: number, most: number): readonly number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find(factor => factor * power >= rough) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** A tick with as many digits as tell it from its neighbors. */
export function formatTick(tick: number, ticks: readonly number[]): string {
  const step = Math.abs((ticks[1] ?? 0) - (ticks[0] ?? 0));
  const digits = step > 0 && step < 1 ? Math.min(9, Math.ceil(-Math.log10(step) - 1e-9)) : 0;
  return tick.toFixed(digits).replace('-', '\u2212');
}

/** The bounds of some numbers with a margin; undefined if there are none. */
export function boundsOf(values: readonly number[], margin = 0.06): readonly [number, number] | undefined {
  if (values.length === 0) return undefined;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low) * margin || Math.abs(high) * margin || 1;
  return [low - room, high + room];
}
