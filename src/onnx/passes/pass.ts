/** What is a pass of `simplify`? A value with a name, a proof class, and a function that edits every graph of the model and says what it did. */
import type { FindProblems } from '../check/check-model.js';
import type { Model } from '../ir/model.js';
import { scopesOf } from '../ir/scope.js';
import { viewScope } from '../rewrite/graph-view.js';
import type { AppliedRecord } from '../rewrite/rewriter.js';
import { applyRule } from '../rewrite/rewriter.js';
import type { ProofClass, RewriteRule } from '../rewrite/rule.js';
import type { Inference } from '../shape-inference/infer-shapes.js';
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
  readonly check: FindProblems;
  /** What is known of the model as it is. A pass keeps it right where it edits, or edits and forgets it. */
  readonly infer: (model: Model) => Inference;
}

export interface PassOutcome {
  /** Labels of the nodes or values that the pass changed or removed. */
  readonly changed: readonly string[];
  readonly declined: readonly { readonly node: string; readonly reason: string }[];
}

/** What a pass did to one graph after another. */
export function joinOutcomes(outcomes: readonly PassOutcome[]): PassOutcome {
  return { changed: outcomes.flatMap(({ changed }) => changed), declined: outcomes.flatMap(({ declined }) => declined) };
}

/** The pass that applies one rule wherever it matches, in the bodies of If, Loop and Scan too. The graph is checked after its last patch: real models have thousands. */
export function passOfRule(rule: RewriteRule): Pass {
  return {
    name: rule.name,
    proof: rule.proof,
    proofText: rule.proofText,
    async run(model, { check, infer }) {
      const inference = infer(model);
      const checkAtEnd: FindProblems = (graph, depth) => (depth === 'structure' ? [] : check(graph, depth));
      const outcomes: PassOutcome[] = [];
      for (const scope of scopesOf(model)) {
        const { record } = applyRule(viewScope(scope, inference), rule, { check: checkAtEnd });
        outcomes.push({ changed: record.applied.map(labelOf), declined: record.declined });
      }
      return joinOutcomes(outcomes);
    },
  };
}

const labelOf = (record: AppliedRecord): string => record.node;
