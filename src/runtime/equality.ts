/** When do two outputs count as equal? Bit for bit where nothing may round; within a share of the standard deviation where something may. */
import type { OutputComparison } from './compare-models.js';

/** Which difference is allowed. */
export type Equality = { readonly kind: 'exact' } | { readonly kind: 'rounding'; readonly tolerance: number };

/** Below this share of its largest magnitude, single precision itself cannot tell two values of an output apart. */
const FLOAT_RESOLUTION = 2 ** -22;

/** Why two outputs are not equal, with the figures; undefined where they are. */
export function findInequality(wanted: Equality, output: OutputComparison): string | undefined {
  if (output.shapes === 'different') return 'its shape differs';
  if (output.broken > 0) return `${output.broken} elements are NaN or infinite in one of the two`;
  if (wanted.kind === 'exact')
    return output.differentBits === 0
      ? undefined
      : `${output.differentBits} of ${output.elements} elements differ, by ${output.maxAbs} at most`;
  const bound = boundOf(wanted.tolerance, output);
  if (output.maxAbs <= bound) return undefined;
  return `an element differs by ${output.maxAbs}, allowed are ${bound} (${wanted.tolerance} of the standard deviation ${output.standardDeviation}); SQNR ${output.sqnrDb.toFixed(1)} dB`;
}

/** A constant output has no deviation: there the resolution of single precision at its magnitude is the bound. */
export function boundOf(
  tolerance: number,
  { standardDeviation, magnitude }: Pick<OutputComparison, 'standardDeviation' | 'magnitude'>,
): number {
  return Math.max(tolerance * standardDeviation, FLOAT_RESOLUTION * magnitude);
}
