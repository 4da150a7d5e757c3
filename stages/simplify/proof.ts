/** Checks that a simplified model computes equal outputs: bit for bit if only exact passes fired, else within the tolerance. */
import { getDefined } from '../../src/base/invariant.js';
import type { EqualityProof } from '../../src/runtime/compare/prove-equal.js';
import { StageError } from '../../src/stage/stage-error.js';

export interface Proof extends EqualityProof {
  /** The weakest class of the passes that fired. */
  readonly class: 'exact' | 'rounding';
  readonly tolerance: number;
  /** Outputs computed by a Sigmoid. */
  readonly sigmoids: readonly string[];
}

/** @throws StageError `simplify-not-equal` naming the first output that differs, with figures. */
export function assertProved(proof: Proof): void {
  if (proof.unequal === undefined) return;
  const { output: name, reason } = proof.unequal;
  const output = getDefined(proof.outputs[name], `figures of ${name}`);
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
