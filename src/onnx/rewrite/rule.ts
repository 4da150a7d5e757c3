/** What is a rewrite rule? A value: a pattern, and a function from a match to a patch or to the reason why there is none. */
import type { Constant, Node, ValueId } from '../ir/model.js';
import type { Known } from '../shape-inference/node-context.js';
import type { Patch } from './patch.js';
import type { Pattern } from './pattern.js';

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
  readonly rewrite: (match: Match) => Patch | Decline;
}

export interface Decline {
  readonly kind: 'decline';
  readonly reason: string;
  readonly node: Node;
}

export function decline(reason: string, node: Node): Decline {
  return { kind: 'decline', reason, node };
}

/** Where a pattern fits: its root node, and the values and nodes that it names. */
export interface Match {
  readonly node: Node;
  /** The ONNX opset of the model. */
  readonly opset: number;
  /** A node inside the pattern, by its name there. */
  inner(name: string): Node;
  value(name: string): ValueId;
  /** Of an optional input. */
  find(name: string): ValueId | undefined;
  constant(name: string): Constant;
  findConstant(name: string): Constant | undefined;
  type(value: ValueId): Known;
  /** The constant that a value is, also where the pattern does not name it. */
  constantOf(value: ValueId | undefined): Constant | undefined;
  /** How many node inputs and graph outputs read the value. */
  useCount(value: ValueId): number;
  /** The root's output. */
  output(index?: number): ValueId;
  nameOf(value: ValueId): string;
}
