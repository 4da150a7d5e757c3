/** What does the report of a rewrite say? The class of everything that was done, the nodes changed, and the price. */
import type { JsonObject } from '../../src/base/json.js';
import type { RewriteRecord } from '../../src/onnx/rewrite/rewrite-model.js';
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
      applied: rule.applied.map(entry => ({ ...entry, values: [...entry.values], added: [...entry.added], removed: [...entry.removed] })),
      declined: rule.declined.map(entry => ({ ...entry })),
      nearestMiss: rule.nearestMiss === undefined ? null : { ...rule.nearestMiss },
    })),
    edits: record.edits.map(edit => ({ ...edit })),
    changedTypes: record.changedTypes.map(change => ({ ...change })),
    price: describePrice(price),
  };
}

/** Of rules that applied; an edit by hand proves nothing. */
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
