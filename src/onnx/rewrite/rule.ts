/** What is a rewrite rule? A value: a pattern, and a function from a match to a patch or to the reason why there is none. */
import type { Node } from '../ir/model.js';
import type { Match } from './match.js';
import type { EndCut, Patch } from './patch.js';
import type { Pattern } from './pattern.js';

export type { Match } from './match.js';

/**
 * How the outputs of a rewritten model compare with those before.
 * 'exact': equal bits (a rule's `proofText` says where it is weaker); 'rounding': equal in real arithmetic, rounded elsewhere; 'approximate': other values.
 */
export type ProofClass = 'exact' | 'rounding' | 'approximate';

export interface RewriteRule {
  readonly name: string;
  readonly proof: ProofClass;
  /** What the rule does and why it may, in one or two sentences for reports. */
  readonly proofText: string;
  readonly pattern: Pattern;
  /** Reads, never edits. */
  readonly rewrite: (match: Match) => Patch | EndCut | Decline;
}

export interface Decline {
  readonly kind: 'decline';
  readonly reason: string;
  readonly node: Node;
}

export function decline(reason: string, node: Node): Decline {
  return { kind: 'decline', reason, node };
}
