/** The type of a rewrite rule: a pattern, and a function from a match to a patch or to the reason why the rule declines. */
import type { Node } from '../ir/model.js';
import type { Match } from './match.js';
import type { EndCut, Patch } from './patch.js';
import type { Pattern } from './pattern.js';

export type { Match } from './match.js';

/**
 * How the outputs of the rewritten model compare with those of the original.
 * 'exact': equal bits (exceptions are stated in the rule's `proofText`); 'rounding': equal in real arithmetic, with other rounding; 'approximate': other values.
 */
export type ProofClass = 'exact' | 'rounding' | 'approximate';

export interface RewriteRule {
  readonly name: string;
  readonly proof: ProofClass;
  /** What the rule does and why the proof class holds, in one or two sentences for reports. */
  readonly proofText: string;
  readonly pattern: Pattern;
  /** Whether every value that stays is the same on the calibration samples, so that later rules can read their ranges. */
  readonly keepsRanges?: boolean;
  /** Does not edit the graph. */
  readonly rewrite: (match: Match) => Patch | EndCut | Decline;
}

/** A rule without the name and proof class, which the rule table states. */
export type RuleCode = Omit<RewriteRule, 'name' | 'proof'>;

export interface Decline {
  readonly kind: 'decline';
  readonly reason: string;
  readonly node: Node;
}

export function decline(reason: string, node: Node): Decline {
  return { kind: 'decline', reason, node };
}
