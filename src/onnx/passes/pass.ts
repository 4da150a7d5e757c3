/** What is a pass of `simplify`? A value with a name, a proof class, and a function that edits the model and says what it did. */
import type { Model } from '../ir/model.js';
import { viewModel } from '../rewrite/graph-view.js';
import type { AppliedRecord } from '../rewrite/rewriter.js';
import { applyRule } from '../rewrite/rewriter.js';
import type { ProofClass, RewriteRule } from '../rewrite/rule.js';
import type { Evaluate } from './evaluate.js';

export interface Pass {
  readonly name: string;
  readonly proof: ProofClass;
  readonly proofText: string;
  readonly run: (model: Model, context: PassContext) => Promise<PassOutcome>;
}

export interface PassContext {
  readonly evaluate: Evaluate;
  /** The largest constant that folding may create, in bytes. */
  readonly foldLimitBytes: number;
  /** Finds problems of the graph; each is a message. */
  readonly check: (model: Model) => readonly string[];
}

export interface PassOutcome {
  /** Labels of the nodes or values that the pass changed or removed. */
  readonly changed: readonly string[];
  readonly declined: readonly { readonly node: string; readonly reason: string }[];
}

/** The pass that applies one rule wherever it matches. */
export function passOfRule(rule: RewriteRule): Pass {
  return {
    name: rule.name,
    proof: rule.proof,
    proofText: rule.proofText,
    async run(model, { check }) {
      const { record } = applyRule(viewModel(model), rule, { check });
      return { changed: record.applied.map(labelOf), declined: record.declined };
    },
  };
}

const labelOf = (record: AppliedRecord): string => record.node;
