/** When do two models count as equal? Bit for bit where only exact passes fired; within a share of the standard deviation where one rounds. */
import type { OutputComparison } from '../../src/runtime/compare-models.js';
import { StageError } from '../../src/stage/stage-error.js';

export interface Proof {
  /** The weakest class of the passes that fired. */
  readonly class: 'exact' | 'rounding';
  readonly samples: number;
  readonly tolerance: number;
  readonly outputs: Readonly<Record<string, OutputComparison>>;
}

/** Below this share of its largest magnitude, single precision itself cannot tell two values of an output apart. */
const FLOAT_RESOLUTION = 2 ** -22;

/** @throws StageError `simplify-not-equal` naming the first output that is not equal, with its figures. */
export function assertProved(proof: Proof): void {
  for (const [name, output] of Object.entries(proof.outputs)) {
    const reason = whyUnequal(proof, output);
    if (reason === undefined) continue;
    throw new StageError('simplify-not-equal', `the simplified model computes another "${name}": ${reason}`, {
      help: 'leave out the pass at fault by `skip` (the report lists those that fired), and report it',
      details: {
        output: name,
        maxAbs: output.maxAbs,
        sqnrDb: output.sqnrDb,
        standardDeviation: output.standardDeviation,
        class: proof.class,
      },
    });
  }
}

function whyUnequal(proof: Proof, output: OutputComparison): string | undefined {
  if (output.shapes === 'different') return 'its shape differs';
  if (output.broken > 0) return `${output.broken} elements are NaN or infinite in one of the two`;
  if (proof.class === 'exact')
    return output.differentBits === 0
      ? undefined
      : `${output.differentBits} of ${output.elements} elements differ, by ${output.maxAbs} at most; only exact passes fired`;
  const bound = boundOf(proof.tolerance, output);
  if (output.maxAbs <= bound) return undefined;
  return `an element differs by ${output.maxAbs}, allowed are ${bound} (${proof.tolerance} of the standard deviation ${output.standardDeviation}); SQNR ${output.sqnrDb.toFixed(1)} dB`;
}

/** A constant output has no deviation: there the resolution of single precision at its magnitude is the bound. */
export function boundOf(
  tolerance: number,
  { standardDeviation, magnitude }: Pick<OutputComparison, 'standardDeviation' | 'magnitude'>,
): number {
  return Math.max(tolerance * standardDeviation, FLOAT_RESOLUTION * magnitude);
}
