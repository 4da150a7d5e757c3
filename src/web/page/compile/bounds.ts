/** What bounds the estimate of a unit: words, signs and shapes of marks, so that color is not the only indication. */
import { boundOf, type LayerRow } from '../../../target/estimate/layer-rows.js';
import type { Unit } from './compile-report.js';

type Bound = NonNullable<LayerRow['bound']>;

export const BOUNDS = [
  { bound: 'compute', words: 'compute', sign: '●', look: 'info' },
  { bound: 'memory', words: 'memory', sign: '◆', look: 'warn' },
  { bound: 'layer', words: 'time per layer', sign: '▲', look: 'violet' },
] as const;

/** Paths of marks around the origin. */
export const SHAPES: Readonly<Record<Bound, string>> = {
  compute: 'M-4 0A4 4 0 1 1 4 0A4 4 0 1 1-4 0Z',
  memory: 'M0-5L5 0L0 5L-5 0Z',
  layer: 'M0-5L5 4L-5 4Z',
};

/** "–" without an estimate. */
export function wordsOfBound(unit: Pick<Unit, 'estimate'>): string {
  const bound = boundOf(unit);
  return BOUNDS.find(one => one.bound === bound)?.words ?? '–';
}
