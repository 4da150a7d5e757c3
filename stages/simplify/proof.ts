/** When did simplifying keep the model? Where every output is equal: bit for bit where only exact passes fired, within the tolerance where one rounds. */
import type { OutputComparison } from '../../src/runtime/compare/compare-models.js';
import { findInequality } from '../../src/runtime/compare/equality.js';
import { StageError } from '../../src/stage/stage-error.js';

export interface Proof {
  /** The weakest class of the passes that fired. */
  readonly class: 'exact' | 'rounding';
  readonly samples: number;
  readonly tolerance: number;
  /** Outputs that a Sigmoid computes. */
  readonly sigmoids: readonly string[];
  readonly outputs: Readonly<Record<string, OutputComparison>>;
}

/** @throws StageError `simplify-not-equal` naming the first output that is not equal, with its figures. */
export function assertProved(proof: Proof): void {
  for (const [name, output] of Object.entries(proof.outputs)) {
    const reason = findInequality(
      { kind: proof.class, tolerance: proof.tolerance },
      output,
      proof.sigmoids.includes(name) ? 'sigmoid' : 'any',
    );
    if (reason === undefined) continue;
    const only = proof.class === 'exact' && output.shapes === 'equal' && output.broken === 0 ? '; only exact passes fired' : '';
    throw new StageError('simplify-not-equal', `the simplified model computes another "${name}": ${reason}${only}`, {
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
