/** Compares where nodes ran with the prediction of `compile`, and adds a board's reasons to the vendor's report. */

import { findOwn } from '../../base/find-own.js';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import type { Explained } from './board-report.js';
import type { Place, Reason } from './evidence.js';
import { readAssignment } from './json-files.js';

export type Difference = {
  readonly name: string;
  readonly opType: string;
  readonly predicted: Place;
  readonly ran: Place;
  /** Messages of the prediction's findings. */
  readonly expected: readonly string[];
  /** What the board's files say. */
  readonly observed: readonly string[];
};

export type Comparison = {
  readonly differences: readonly Difference[];
  /** Nodes of both reports; the rest are of one only. */
  readonly both: number;
  readonly onlyPredicted: number;
  readonly onlyReal: number;
};

/** @param predicted a bundle's `report/NAME.predicted.json`. @throws TargetError `board-file-malformed`. */
export function compareWithPrediction(predicted: Json, file: string, { nodes }: Explained): Comparison {
  const ours = readAssignment(predicted, file).nodes;
  const real = new Map(nodes.map(one => [one.node.name, one]));
  const expected = readFindings(predicted);
  const both = ours.filter(({ name }) => real.has(name));
  const differences = both.flatMap(({ name, opType, place }): Difference[] => {
    const ran = real.get(name);
    if (ran === undefined || ran.node.place === place) return [];
    return [{ name, opType, predicted: place, ran: ran.node.place, expected: expected.get(name) ?? [], observed: textsOf(ran.reasons) }];
  });
  return { differences, both: both.length, onlyPredicted: ours.length - both.length, onlyReal: nodes.length - both.length };
}

/** The messages of `x-reasons` by node. Entries of another form are ignored: the member is ours, but an older version's. */
function readFindings(predicted: Json): ReadonlyMap<string, readonly string[]> {
  const entries = isJsonObject(predicted) ? findOwn(predicted, 'x-reasons') : undefined;
  const found = new Map<string, readonly string[]>();
  if (!isJsonList(entries)) return found;
  for (const entry of entries) {
    if (!isJsonObject(entry) || !isJsonList(entry.nodes) || !isJsonList(entry.findings)) continue;
    const messages = entry.findings.flatMap(one => (isJsonObject(one) && typeof one.message === 'string' ? [one.message] : []));
    const demoted = typeof entry.demoted === 'string' ? [entry.demoted] : [];
    for (const name of entry.nodes) if (typeof name === 'string') found.set(name, [...messages, ...demoted]);
  }
  return found;
}

/** The vendor's report with `x-reasons` in the form of a prediction, for `runner.py diff-report`. */
export function withReasons(report: JsonObject, { nodes }: Explained): JsonObject {
  const reasons = nodes.flatMap(({ node, reasons }): JsonObject[] =>
    node.place === 'npu' || reasons.length === 0
      ? []
      : [
          {
            nodes: [node.name],
            name: node.name,
            opType: node.opType,
            device: 'cpu',
            findings: reasons.map(({ kind, text, at }) => ({ rule: `board-${kind}`, message: text, at })),
          },
        ],
  );
  return { ...report, 'x-reasons': reasons };
}

function textsOf(reasons: readonly Reason[]): readonly string[] {
  return [...new Set(reasons.map(({ text }) => text))];
}
