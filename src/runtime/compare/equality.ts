/** When do two outputs count as equal? Bit for bit where nothing may round; within a share of the standard deviation where something may. */
import { formatSqnr } from '../../tensor/compare.js';
import type { DType } from '../../tensor/dtype.js';
import type { OutputComparison } from './compare-models.js';

/** Which difference is allowed. */
export type Equality = { readonly kind: 'exact' } | { readonly kind: 'rounding'; readonly tolerance: number };

/** Below this share of its largest magnitude, single precision itself cannot tell two values of an output apart: four roundings. */
const FLOAT_RESOLUTION = 2 ** -22;
/** The same of floats with fewer bits. */
const RESOLUTIONS: Readonly<Partial<Record<DType, number>>> = { float16: 2 ** -9, bfloat16: 2 ** -6 };

/**
 * What an output is computed by, where that bounds how near to each other two of its values can be told apart. ONNX Runtime's Sigmoid is ½ plus a quotient:
 * every value has the resolution of numbers near ½, however small it is, and errors up to 2.2 · 2⁻²⁴.
 */
export type Origin = 'sigmoid' | 'any';

/** Why two outputs are not equal, with the figures; undefined where they are. */
export function findInequality(wanted: Equality, output: OutputComparison, origin: Origin = 'any'): string | undefined {
  if (output.shapes === 'different') return 'its shape differs';
  if (output.broken > 0) return `${output.broken} elements are NaN or infinite in one of the two`;
  if (wanted.kind === 'exact')
    return output.differentBits === 0
      ? undefined
      : `${output.differentBits} of ${output.elements} elements differ, by ${output.maxAbs} at most`;
  const bound = boundOf(wanted.tolerance, output, origin);
  if (output.maxAbs <= bound) return undefined;
  return `an element differs by ${output.maxAbs}, allowed are ${bound} (${wanted.tolerance} of the standard deviation ${output.standardDeviation}); SQNR ${formatSqnr(output.sqnrDb, 1)}`;
}

/** Names of outputs that had no element in any sample: nothing was compared there. */
export function listEmpty(outputs: Readonly<Record<string, OutputComparison>>): readonly string[] {
  return Object.entries(outputs).flatMap(([name, { elements, shapes }]) => (elements === 0 && shapes === 'equal' ? [name] : []));
}

/** A constant output has no deviation: there the resolution of single precision at its magnitude is the bound; a sigmoid's magnitude is 1. */
export function boundOf(
  tolerance: number,
  { standardDeviation, magnitude, dtype = 'float32' }: Pick<OutputComparison, 'standardDeviation' | 'magnitude' | 'dtype'>,
  origin: Origin = 'any',
): number {
  const resolution = RESOLUTIONS[dtype] ?? FLOAT_RESOLUTION;
  return Math.max(tolerance * standardDeviation, resolution * (origin === 'sigmoid' ? Math.max(1, magnitude) : magnitude));
}
