/** The only code that applies rewrite rules to a graph: it tries a rule at each node, applies its patch, checks the graph after each patch, and records the result. */

import { assertNever } from '../../base/assert-never.js';
import type { FindProblems } from '../check/check-model.js';
import type { Node, NodeId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { describeNode } from '../shape-inference/context/node-context.js';
import { applyCut } from './apply-cut.js';
import { type AppliedPatch, applyPatch, type HostWork } from './apply-patch.js';
import { type GraphView, viewScope } from './graph-view.js';
import { type Miss, matchPattern, nodesOfMatch } from './pattern.js';
import type { Decline, Match, ProofClass, RewriteRule } from './rule.js';

/** Record of one rule's changes to a graph; plain data for reports. */
export interface RuleRecord {
  readonly rule: string;
  readonly proof: ProofClass;
  readonly proofText: string;
  readonly applied: readonly AppliedRecord[];
  readonly declined: readonly { readonly node: string; readonly reason: string }[];
  /** The node where the largest part of the pattern matched, among those where it did not match completely. */
  readonly nearestMiss: { readonly node: string; readonly reason: string } | undefined;
}

export interface AppliedRecord {
  readonly node: string;
  /** Names of the values that have a new producer. */
  readonly values: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** For a cut at an input or output of the model: the operations that the host runs instead. */
  readonly host?: HostWork;
}

export interface RuleScope {
  /** Nodes that may be the root of a match; default: all nodes. */
  readonly nodes?: ReadonlySet<NodeId>;
  /** Finds problems of the graph: structure after each patch, operators after the last one. */
  readonly check: FindProblems;
}

/** The nodes at which `rule` applies now, in graph order. */
export function findSites(view: GraphView, rule: RewriteRule, nodes: ReadonlySet<NodeId> | undefined): readonly Node[] {
  return [...view.graph.nodes.values()].filter(node => {
    if (nodes?.has(node.id) === false) return false;
    const match = matchPattern(view, rule.pattern, node);
    return match?.kind === 'match' && rule.rewrite(match).kind !== 'decline';
  });
}

/**
 * Applies `rule` once at every node of the view's graph where it matches; nodes that a patch adds are not tried.
 * The model behind `view` is changed; the returned view shows the result.
 * @throws OnnxError `patch-changes-type`, `patch-breaks-graph`: a defect of the rule.
 */
export function applyRule(view: GraphView, rule: RewriteRule, scope: RuleScope): { readonly view: GraphView; readonly record: RuleRecord } {
  const applied: AppliedRecord[] = [];
  const declined: { node: string; reason: string }[] = [];
  let nearest: Miss | undefined;
  let now = view;
  for (const node of [...view.graph.nodes.values()]) {
    if (!now.graph.nodes.has(node.id) || scope.nodes?.has(node.id) === false) continue;
    const match = matchPattern(now, rule.pattern, node);
    if (match === undefined) continue;
    if (match.kind === 'miss') {
      if (match.depth > (nearest?.depth ?? 0)) nearest = match;
      continue;
    }
    const label = describeNode(node, now.graph);
    const wanted = rule.rewrite(match);
    const result = applyWanted(now, rule, match, wanted);
    if (result.kind === 'decline') {
      declined.push({ node: describeNode(result.node, now.graph), reason: result.reason });
      continue;
    }
    assertValid(rule, label, scope.check(now.model, 'structure'));
    now = viewScope(now.scope, now.inference, now.ranges);
    const { kind: _, ...done } = result;
    applied.push({ node: label, ...done });
  }
  const last = applied.at(-1);
  if (last !== undefined) assertValid(rule, last.node, scope.check(now.model, 'operators'));
  const { name, proof, proofText } = rule;
  const nearestMiss = nearest && { node: describeNode(nearest.node, now.graph), reason: nearest.reason };
  return { view: now, record: { rule: name, proof, proofText, applied, declined, nearestMiss } };
}

function applyWanted(view: GraphView, rule: RewriteRule, match: Match, wanted: ReturnType<RewriteRule['rewrite']>): AppliedPatch | Decline {
  switch (wanted.kind) {
    case 'decline':
      return wanted;
    case 'patch':
      return applyPatch(view, rule, match.node, nodesOfMatch(match, rule.pattern), wanted);
    case 'cut':
      return applyCut(view, wanted);
    default:
      return assertNever(wanted);
  }
}

function assertValid(rule: RewriteRule, label: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new OnnxError('patch-breaks-graph', `rule ${rule.name} at ${label} leaves an invalid graph: ${problems[0]}`, {
    details: { rule: rule.name, problems: [...problems] },
  });
}
