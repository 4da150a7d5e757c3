/** The report of a run on a board: where each node and operator ran, with the reasons that the vendor's tools gave. */
import { anyList, anyText, constant, integer, mapOf, number, openObject, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { addTo, type BoardGraph, openBoardGraph } from './board-graph.js';
import { type Evidence, PLACE, type PlacedNode, REASON, type Reason, SUMMARY_COUNT } from './evidence.js';

export const BOARD_REPORT_FORMAT = 'tanren-board-report/1';

const COUNT = integer(0);

const PLACE_COUNTS = openObject({ npu: COUNT, cpu: COUNT, host: COUNT, other: COUNT });

export type PlaceCounts = FromSchema<typeof PLACE_COUNTS>;

const OPERATOR = openObject({
  op: text('As in limits, with its domain if that is not ai.onnx: "DepthwiseConv", "com.microsoft::QuantizeLinear".'),
  counts: PLACE_COUNTS,
  reasons: anyList(
    openObject({ text: anyText(), nodes: COUNT }),
    'Each reason once, with the number of its nodes; the most frequent first.',
  ),
  unexplained: integer(0, 'Nodes off the NPU about which no file says anything.'),
});

export type BoardOperator = FromSchema<typeof OPERATOR>;

const NODE = openObject({ name: text(), op: text(), place: PLACE, device: text(), reasons: anyList(REASON) });

export type BoardNode = FromSchema<typeof NODE>;

export const BOARD_REPORT_SCHEMA = openObject(
  {
    format: constant(BOARD_REPORT_FORMAT),
    targets: anyList(text(), 'Names of compiler targets in messages.'),
    counts: PLACE_COUNTS,
    subgraphs: mapOf(COUNT),
    operators: anyList(OPERATOR, 'Operators that are not on the NPU, then the others; each by its number of nodes.'),
    nodes: anyList(NODE, 'Nodes that are not on the NPU, in the order of the report.'),
    others: anyList(REASON, 'Reasons that are about no node of the report.'),
    summary: mapOf(SUMMARY_COUNT),
    plan: mapOf(number()),
  },
  { model: text('The file name of the model from which the cache was built.') },
);

export type BoardReport = FromSchema<typeof BOARD_REPORT_SCHEMA>;

/** A node with what was said about it. */
export interface ExplainedNode {
  readonly node: PlacedNode;
  readonly reasons: readonly Reason[];
}

export interface Explained {
  readonly graph: BoardGraph;
  readonly nodes: readonly ExplainedNode[];
  readonly others: readonly Reason[];
}

/** Assigns each reason to the node that it names. */
export function explainNodes({ assignment, reasons }: Evidence): Explained {
  const graph = openBoardGraph(assignment ?? { nodes: [], shapes: new Map(), subgraphs: {} });
  const byNode = new Map<PlacedNode, Reason[]>();
  const others: Reason[] = [];
  for (const reason of reasons) {
    const node = reason.subject === undefined ? undefined : graph.find(reason.subject, reason.type);
    if (node === undefined) others.push(reason);
    else addTo(byNode, node, reason);
  }
  return { graph, nodes: graph.nodes.map(node => ({ node, reasons: byNode.get(node) ?? [] })), others };
}

export function reportBoard(evidence: Evidence, explained: Explained): BoardReport {
  const { graph, nodes, others } = explained;
  const { assignment, context, targets, summary, plan } = evidence;
  return {
    format: BOARD_REPORT_FORMAT,
    ...(context?.model === undefined ? {} : { model: context.model }),
    targets,
    counts: countPlaces(nodes),
    subgraphs: assignment?.subgraphs ?? {},
    operators: groupOperators(nodes, graph),
    nodes: nodes.flatMap(({ node, reasons }) =>
      node.place === 'npu'
        ? []
        : [{ name: node.name, op: labelOf(node, graph), place: node.place, device: node.device, reasons: once(reasons) }],
    ),
    others: once(others),
    summary,
    plan,
  };
}

export function labelOf(node: PlacedNode, graph: BoardGraph): string {
  return node.domain === '' ? (graph.limitName(node) ?? node.opType) : `${node.domain}::${node.opType}`;
}

export function countPlaces(nodes: readonly ExplainedNode[]): PlaceCounts {
  const counts = { npu: 0, cpu: 0, host: 0, other: 0 };
  for (const { node } of nodes) counts[node.place]++;
  return counts;
}

function groupOperators(nodes: readonly ExplainedNode[], graph: BoardGraph): readonly BoardOperator[] {
  const groups = new Map<string, ExplainedNode[]>();
  for (const one of nodes) addTo(groups, labelOf(one.node, graph), one);
  const elsewhere = ({ counts }: BoardOperator): number => counts.cpu + counts.host + counts.other;
  return [...groups]
    .map(([op, group]) => describeOperator(op, group))
    .sort((a, b) => elsewhere(b) - elsewhere(a) || b.counts.npu - a.counts.npu || (a.op < b.op ? -1 : 1));
}

function describeOperator(op: string, nodes: readonly ExplainedNode[]): BoardOperator {
  const elsewhere = nodes.filter(({ node }) => node.place !== 'npu');
  const texts = new Map<string, number>();
  for (const { reasons } of elsewhere)
    for (const text of new Set(reasons.map(reason => reason.text))) texts.set(text, (texts.get(text) ?? 0) + 1);
  return {
    op,
    counts: countPlaces(nodes),
    reasons: [...texts].map(([text, count]) => ({ text, nodes: count })).sort((a, b) => b.nodes - a.nodes),
    unexplained: elsewhere.filter(({ reasons }) => reasons.length === 0).length,
  };
}

/** Equal messages are repeated for each session of a run. */
function once(reasons: readonly Reason[]): readonly Reason[] {
  const seen = new Set<string>();
  return reasons.filter(({ kind, text, subject }) => {
    const key = JSON.stringify([kind, text, subject]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
