/** Equality of two outputs: bit for bit for exact transformations, within a share of the standard deviation for rounding ones. */
import { formatSqnr } from '../../tensor/compare.js';
import type { DType } from '../../tensor/dtype.js';
import type { OutputComparison } from './compare-models.js';

/** The allowed difference. */
export type Equality = { readonly kind: 'exact' } | { readonly kind: 'rounding'; readonly tolerance: number };

/** Differences below this share of an output's largest magnitude are within single precision: four roundings. */
const FLOAT_RESOLUTION = 2 ** -22;
/** The same for narrower float types. */
const RESOLUTIONS: Readonly<Partial<Record<DType, number>>> = { float16: 2 ** -9, bfloat16: 2 ** -6 };

/**
 * The operator that computes an output, if it limits the resolution of the output. ONNX Runtime computes Sigmoid as ½ plus a quotient:
 * every value has the resolution of numbers near ½, however small it is, and errors up to 2.2 · 2⁻²⁴.
 */
export type Origin = 'sigmoid' | 'any';

/**
 * Optimizations of ONNX Runtime may round at other places than ours, so that twice its own spread is allowed. A spread above a tenth of the deviation
 * says nothing about rounding: in such outputs selections change, such as the order of detections. An output of one number, or of equal ones, has no
 * deviation: there it is rounding up to 2⁻¹⁴ of the magnitude, which sums of some thousand products reach.
 */
const SPREADS_ALLOWED = 2;
const LARGEST_SPREAD = 0.1;
const LARGEST_SPREAD_OF_MAGNITUDE = 2 ** -14;

/**
 * Why two outputs are not equal, with figures; undefined if they are equal.
 * @param spread the largest difference that ONNX Runtime's own optimizations make to the output.
 */
export function findInequality(wanted: Equality, output: OutputComparison, origin: Origin = 'any', spread?: number): string | undefined {
  if (output.shapes === 'different') return 'its shapes differ';
  if (output.broken > 0) return `${output.broken} elements are NaN or infinite in only one of the two outputs`;
  if (wanted.kind === 'exact')
    return output.differentBits === 0
      ? undefined
      : `${output.differentBits} of ${output.elements} elements differ, by at most ${output.maxAbs}`;
  const bound = boundOf(wanted.tolerance, output, origin);
  const largest = Math.max(LARGEST_SPREAD * output.standardDeviation, LARGEST_SPREAD_OF_MAGNITUDE * output.magnitude);
  const widened = spread !== undefined && spread <= largest ? SPREADS_ALLOWED * spread : 0;
  if (output.maxAbs <= Math.max(bound, widened)) return undefined;
  const own = spread === undefined ? '' : `; ONNX Runtime's own optimizations change it by ${spread}`;
  return `an element differs by ${output.maxAbs}, allowed is ${Math.max(bound, widened)} (${wanted.tolerance} of the standard deviation ${output.standardDeviation}${own}); SQNR ${formatSqnr(output.sqnrDb, 1)}`;
}

/** Names of outputs without an element in any sample, where nothing was compared. */
export function listEmpty(outputs: Readonly<Record<string, OutputComparison>>): readonly string[] {
  return Object.entries(outputs).flatMap(([name, { elements, shapes }]) => (elements === 0 && shapes === 'equal' ? [name] : []));
}

/** The allowed difference. For a constant output, which has no deviation, it is the resolution of its type; a sigmoid has magnitude 1. */
export function boundOf(
  tolerance: number,
  { standardDeviation, magnitude, dtype = 'float32' }: Pick<OutputComparison, 'standardDeviation' | 'magnitude' | 'dtype'>,
  origin: Origin = 'any',
): number {
  const resolution = RESOLUTIONS[dtype] ?? FLOAT_RESOLUTION;
  return Math.max(tolerance * standardDeviation, resolution * (origin === 'sigmoid' ? Math.max(1, magnitude) : magnitude));
}
