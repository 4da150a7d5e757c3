/** Rewriting of a model as a pipeline requests it: rules in order, then edits in order, each with a record of its changes. */
import type { FindProblems } from '../check/check-model.js';
import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import type { Matches, NodeSelector } from '../selection/node-selector.js';
import { describeNode, formatDims, type Known } from '../shape-inference/context/node-context.js';
import { inferShapes, isMadeDim, type KnownTypes, writeTypes } from '../shape-inference/infer-shapes.js';
import type { Edit } from './edit-schema.js';
import { applyEdit, type EditRecord } from './edits.js';
import { type SeenRanges, viewModel } from './graph-view.js';
import { selectMatching, severalMatches } from './matches.js';
import { applyRule, findSites, type RuleRecord } from './rewriter.js';
import type { RewriteRule } from './rule.js';

/** A rule as a pipeline requests it. */
export interface RuleRequest {
  readonly rule: RewriteRule;
  /** Nodes at which the rule may apply; default: all nodes of the main graph. */
  readonly select?: NodeSelector | undefined;
  /** 'one' (default): the rule must apply exactly once. 'any': any number of times, including none. */
  readonly matches?: Matches | undefined;
}

export interface RewriteRequest {
  readonly rules: readonly RuleRequest[];
  readonly edits: readonly Edit[];
  readonly check: FindProblems;
  /** Ranges of the model's values on calibration samples. They hold until a rule changes values. */
  readonly ranges?: SeenRanges;
}

export interface RewriteRecord {
  readonly rules: readonly RuleRecord[];
  readonly edits: readonly EditRecord[];
  /** Values whose dtype or shape the edits changed. */
  readonly changedTypes: readonly { readonly value: string; readonly before: string; readonly after: string }[];
}

/**
 * Rewrites `model`, whose nodes are in topological order, in place and writes the inferred types into its values. If it throws, the model may be partly rewritten.
 * @throws OnnxError `rule-matches-nothing` with the nearest miss and the declines; `selector-matches-nothing`, `selector-matches-several`;
 *   what edits, patches and shape inference throw; `edit-breaks-graph`.
 */
export function rewriteModel(model: Model, request: RewriteRequest): RewriteRecord {
  let { ranges } = request;
  const rules = request.rules.map(wanted => {
    const record = applyRequest(model, wanted, { check: request.check, ranges });
    if (record.applied.length > 0 && wanted.rule.keepsRanges !== true) ranges = undefined;
    return record;
  });
  if (request.edits.length === 0) {
    writeTypes(model, inferShapes(model));
    return { rules, edits: [], changedTypes: [] };
  }
  const before = inferShapes(model);
  const edits = request.edits.flatMap(edit => applyEdit(model, edit));
  const after = inferShapes(model, { stated: 'ignore' });
  writeTypes(model, after);
  const [problem] = request.check(model, 'operators');
  if (problem !== undefined) throw new OnnxError('edit-breaks-graph', `the edits leave an invalid graph: ${problem}`);
  return { rules, edits, changedTypes: compareTypes(model, before, after) };
}

function applyRequest(
  model: Model,
  { rule, select, matches = 'one' }: RuleRequest,
  { check, ranges }: { readonly check: RewriteRequest['check']; readonly ranges: SeenRanges | undefined },
): RuleRecord {
  const view = viewModel(model, {}, ranges);
  const nodes = select === undefined ? undefined : new Set(selectMatching(model.graph, select, matches).map(node => node.id));
  const sites = findSites(view, rule, nodes);
  if (matches === 'one' && sites.length > 1)
    throw severalMatches(
      `rule ${rule.name}`,
      sites.map(node => describeNode(node, model.graph)),
    );
  const { record } = applyRule(view, rule, { check, ...(nodes === undefined ? {} : { nodes }) });
  if (matches === 'one' && record.applied.length === 0) throw matchesNothing(rule, record);
  return record;
}

function matchesNothing(rule: RewriteRule, { declined, nearestMiss }: RuleRecord): OnnxError {
  const reasons = [...declined, ...(nearestMiss === undefined ? [] : [nearestMiss])].slice(0, 5);
  const why = reasons.map(({ node, reason }) => `${node}: ${reason}`).join('; ');
  return new OnnxError('rule-matches-nothing', `rule ${rule.name} matches no node${why === '' ? '' : ` (${why})`}`, {
    help: 'check the model, or set `matches: any` if the rule need not apply',
    details: { rule: rule.name, declined: reasons },
  });
}

function compareTypes(model: Model, before: KnownTypes, after: KnownTypes): RewriteRecord['changedTypes'] {
  return [...model.graph.values.values()].flatMap(({ id, name }) => {
    const [was, is] = [before.get(id), after.get(id)].map(show);
    return was === undefined || is === undefined || was === is ? [] : [{ value: name, before: was, after: is }];
  });
}

function show(type: Known | undefined): string | undefined {
  return type && `${type.dtype ?? '?'} ${formatDims(type.dims?.map(dim => (isMadeDim(dim) ? undefined : dim)))}`;
}
