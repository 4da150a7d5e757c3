/** Compares where nodes ran with the prediction of `compile`, and adds a board's reasons to the vendor's report. */
import { findOwn } from '../../base/find-own.js';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { anyList, integer, openObject, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { type NodeReasons, REASONS_MEMBER, readNodeReasons } from '../report/node-reasons.js';
import type { Explained } from './board-report.js';
import { PLACE, type Reason } from './evidence.js';
import { readAssignment } from './json-files.js';

const DIFFERENCE = openObject({
  name: text(),
  opType: text(),
  predicted: PLACE,
  ran: PLACE,
  expected: anyList(text(), "Messages of the prediction's findings."),
  observed: anyList(text(), "What the board's files say."),
});

export type Difference = FromSchema<typeof DIFFERENCE>;

const COMPARISON = openObject({
  differences: anyList(DIFFERENCE),
  both: integer(0, 'Nodes of both reports; the rest are of one only.'),
  onlyPredicted: integer(0),
  onlyReal: integer(0),
});

export type Comparison = FromSchema<typeof COMPARISON>;

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

/** The messages of a prediction by node. */
function readFindings(predicted: Json): ReadonlyMap<string, readonly string[]> {
  const member = isJsonObject(predicted) ? findOwn(predicted, REASONS_MEMBER) : undefined;
  const messages = ({ findings, demoted }: NodeReasons): readonly string[] => [
    ...findings.map(({ message }) => message),
    ...(demoted === undefined ? [] : [demoted]),
  ];
  return new Map(readNodeReasons(member).flatMap(entry => entry.nodes.map(name => [name, messages(entry)] as const)));
}

/** The vendor's report with `x-reasons` in the form of a prediction, for `runner.py diff-report`. */
export function withReasons(report: JsonObject, { nodes }: Explained): JsonObject {
  const reasons = nodes.flatMap(({ node, reasons }): NodeReasons[] =>
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
  return { ...report, [REASONS_MEMBER]: reasons };
}

function textsOf(reasons: readonly Reason[]): readonly string[] {
  return [...new Set(reasons.map(({ text }) => text))];
}
