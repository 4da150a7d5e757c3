/** The report of `rewrite`: the proof class, the changed nodes, and the price. */
import type { JsonObject } from '../../src/base/json.js';
import type { HostStep } from '../../src/onnx/rewrite/patch.js';
import type { RewriteRecord } from '../../src/onnx/rewrite/rewrite-model.js';
import type { AppliedRecord } from '../../src/onnx/rewrite/rewriter.js';
import type { ProofClass } from '../../src/onnx/rewrite/rule.js';
import type { Price } from './price.js';

const ORDER: readonly ProofClass[] = ['exact', 'rounding', 'approximate'];

export function describeChanges(record: RewriteRecord, price: Price): JsonObject {
  return {
    proof: weakestOf(record),
    rules: record.rules.map(rule => ({
      rule: rule.rule,
      proof: rule.proof,
      proofText: rule.proofText,
      applied: rule.applied.map(describeApplied),
      declined: rule.declined.map(entry => ({ ...entry })),
      nearestMiss: rule.nearestMiss === undefined ? null : { ...rule.nearestMiss },
    })),
    edits: record.edits.map(edit => ({ ...edit })),
    changedTypes: record.changedTypes.map(change => ({ ...change })),
    price: describePrice(price),
  };
}

function describeApplied({ node, values, added, removed, host }: AppliedRecord): JsonObject {
  const done = { node, values: [...values], added: [...added], removed: [...removed] };
  return host === undefined ? done : { ...done, host: { ...host, steps: host.steps.map(describeStep) } };
}

function describeStep(step: HostStep): JsonObject {
  switch (step.op) {
    case 'Transpose':
      return { op: step.op, perm: [...step.perm] };
    case 'Reshape':
      return { op: step.op, shape: [...step.shape] };
    case 'Cast':
      return { op: step.op, to: step.to };
    default:
      return { op: step.op, order: step.order, constant: [...step.constant], dims: [...step.dims] };
  }
}

/** The weakest proof class of the rules that applied; a manual edit has no proof. */
function weakestOf({ rules, edits }: RewriteRecord): ProofClass {
  if (edits.length > 0) return 'approximate';
  const classes = rules.filter(rule => rule.applied.length > 0).map(rule => ORDER.indexOf(rule.proof));
  return ORDER[Math.max(0, ...classes)] ?? 'exact';
}

function describePrice(price: Price): JsonObject {
  if (price.kind === 'not-measured') return { measured: false, reason: price.reason };
  const outputs = Object.fromEntries(Object.entries(price.outputs).map(([name, figures]) => [name, { ...figures }]));
  return { measured: true, samples: [...price.samples], outputs };
}
