/**
 * The package's entry point "tanren/onnx".
 *
 * A model is plain data: tables of nodes and values that refer to each other by id. Editing functions change a model in place; `cloneModel` makes a copy.
 * Errors in a model are OnnxErrors with a `code`, a message that names node and value, and usually a `help`.
 */

import { assertModel, findProblems } from '../onnx/check/check-model.js';
import type { Model } from '../onnx/ir/model.js';
import { sortTopologically } from '../onnx/ir/sort.js';
import { FOLD_LIMIT_BYTES } from '../onnx/passes/fold-limit.js';
import { type Simplified, simplifyToFixedPoint } from '../onnx/passes/simplify.js';
import type { Edit } from '../onnx/rewrite/edit-schema.js';
import { type RewriteRecord, rewriteModel } from '../onnx/rewrite/rewrite-model.js';
import { getRule } from '../onnx/rules/target/get-rule.js';
import type { Matches, NodeSelector } from '../onnx/selection/node-selector.js';

export * from '../onnx/public.js';

export interface SimplifyOptions {
  /** The largest constant that folding may create, in bytes. Default: 1 MiB. */
  readonly foldLimitBytes?: number;
  /** Names of passes to skip. */
  readonly skip?: readonly string[];
}

/**
 * Simplifies `model` in place until nothing changes; its results stay the same. ONNX Runtime evaluates constant nodes.
 * Names of inputs, outputs and remaining values are kept. @throws OnnxError `graph-cycle`, `model-invalid`, and the errors of shape inference.
 */
export async function simplify(model: Model, { foldLimitBytes = FOLD_LIMIT_BYTES, skip = [] }: SimplifyOptions = {}): Promise<Simplified> {
  sortTopologically(model.graph);
  assertModel(model, 'the model');
  const { evaluate } = await import('./session/evaluate.js');
  return simplifyToFixedPoint(model, { evaluate, foldLimitBytes, skip, check: findProblems });
}

/** A rule from docs/stages/rewrite.md. `matches: 'one'` (default): it must apply exactly once. */
export interface RuleToApply {
  readonly name: string;
  readonly form?: string;
  readonly select?: NodeSelector;
  readonly matches?: Matches;
}

/**
 * Applies rules, then edits, to `model` in place, and checks every patch. If it throws, the model may be partly rewritten.
 * @throws OnnxError `unknown-rule`, `rule-matches-nothing` with the nearest miss; `selector-matches-nothing`, `selector-matches-several`; errors of edits.
 */
export function rewrite(
  model: Model,
  request: { readonly rules?: readonly RuleToApply[]; readonly edits?: readonly Edit[] },
): RewriteRecord {
  sortTopologically(model.graph);
  assertModel(model, 'the model');
  const rules = (request.rules ?? []).map(({ name, form, select, matches }) => ({ rule: getRule(name, form), select, matches }));
  return rewriteModel(model, { rules, edits: request.edits ?? [], check: findProblems });
}
