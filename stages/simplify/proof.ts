/** Checks that a simplified model computes equal outputs: bit for bit if only exact passes fired, else within the tolerance. */
import type { OutputComparison } from '../../src/runtime/compare/compare-models.js';
import { findInequality } from '../../src/runtime/compare/equality.js';
import { StageError } from '../../src/stage/stage-error.js';

export interface Proof {
  /** The weakest class of the passes that fired. */
  readonly class: 'exact' | 'rounding';
  readonly samples: number;
  readonly tolerance: number;
  /** Outputs computed by a Sigmoid. */
  readonly sigmoids: readonly string[];
  readonly outputs: Readonly<Record<string, OutputComparison>>;
}

/** @throws StageError `simplify-not-equal` naming the first output that differs, with figures. */
export function assertProved(proof: Proof): void {
  for (const [name, output] of Object.entries(proof.outputs)) {
    const reason = findInequality(
      { kind: proof.class, tolerance: proof.tolerance },
      output,
      proof.sigmoids.includes(name) ? 'sigmoid' : 'any',
    );
    if (reason === undefined) continue;
    const only = proof.class === 'exact' && output.shapes === 'equal' && output.broken === 0 ? '; only exact passes fired' : '';
    throw new StageError('simplify-not-equal', `output "${name}" of the simplified model differs: ${reason}${only}`, {
      help: 'skip the pass at fault with `skip` (the report lists the passes that fired), and report the problem',
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
