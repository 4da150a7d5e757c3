/** The type of a pass of `simplify`: a name, a proof class, and a function that edits all graphs of a model and reports its changes. */
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
  /** Finds problems of the graph, one message each. */
  readonly check: FindProblems;
  /** Inferred types of the current model. A pass that edits the model either updates them or does not use them afterwards. */
  readonly infer: (model: Model) => Inference;
}

export interface PassOutcome {
  /** Labels of the nodes or values that the pass changed or removed. */
  readonly changed: readonly string[];
  readonly declined: readonly { readonly node: string; readonly reason: string }[];
  /** Present if what the pass changed here has another rounding, although the pass is exact elsewhere. */
  readonly proof?: 'rounding';
}

/** Joins the outcomes of a pass over several graphs. */
export function joinOutcomes(outcomes: readonly PassOutcome[]): PassOutcome {
  const changed = outcomes.flatMap(outcome => outcome.changed);
  const declined = outcomes.flatMap(outcome => outcome.declined);
  return { changed, declined, ...(outcomes.some(({ proof }) => proof === 'rounding') ? { proof: 'rounding' } : {}) };
}

/** The pass that applies one rule at all its matches, also in the subgraphs of If, Loop and Scan. The graph is checked after the last patch only: real models need thousands of patches. */
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
