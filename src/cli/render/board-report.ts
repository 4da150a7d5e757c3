/** Formats the report of a run on a board: counts, operators off the NPU with reasons, differences from the prediction, and what was learned. */
import { countOf } from '../../base/text/count-of.js';
import type { BoardNode, BoardOperator, BoardReport, PlaceCounts } from '../../target/board/board-report.js';
import type { Learned } from '../../target/board/learn.js';
import type { Comparison } from '../../target/board/merge-reasons.js';
import type { Style } from '../terminal/style.js';
import { formatTable } from '../terminal/text-table.js';

export interface BoardView {
  readonly comparison: Comparison | undefined;
  readonly learned: Learned | undefined;
  /** The path of the profile that learned. */
  readonly profile: string | undefined;
  /** 'all': also operators on the NPU, and every node off it. */
  readonly show: 'all' | 'some';
  readonly style: Style;
}

const SOME = 5;

export function formatBoardReport(report: BoardReport, view: BoardView): readonly string[] {
  const sections = [
    formatHead(report, view),
    formatOperators(report, view),
    view.show === 'all' ? formatNodes(report.nodes) : [],
    formatOthers(report, view),
    formatSummary(report),
    view.comparison === undefined ? [] : formatComparison(view.comparison, view),
    view.learned === undefined ? [] : formatLearned(view.learned, view),
  ];
  return sections.filter(section => section.length > 0).flatMap((section, index) => (index === 0 ? section : ['', ...section]));
}

function formatHead({ model, counts, subgraphs, targets }: BoardReport, { style }: BoardView): readonly string[] {
  const total = counts.npu + counts.cpu + counts.host + counts.other;
  const listed = Object.entries(subgraphs).map(([device, count]) => `${device} ${count}`);
  return [
    style('bold', `${model ?? 'the run'}: ${total === 0 ? 'no file says where nodes ran' : describeCounts(counts)}`),
    ...(listed.length === 0 ? [] : [`subgraphs: ${listed.join(', ')}`]),
    ...(targets.length === 0 ? [] : [`compiled for ${targets.join(', ')}`]),
  ];
}

function describeCounts({ npu, cpu, host, other }: PlaceCounts): string {
  const parts = [
    `${countOf(npu, 'node')} on the NPU`,
    `${cpu} on the CPU`,
    `${host} on the CPU by the vendor's provider`,
    ...(other === 0 ? [] : [`${other} elsewhere`]),
  ];
  return parts.join(', ');
}

function formatOperators({ operators }: BoardReport, { show }: BoardView): readonly string[] {
  const shown = operators.filter(({ counts }) => show === 'all' || counts.cpu + counts.host + counts.other > 0);
  if (shown.length === 0) return [];
  const rows = shown.map(operator => {
    const { npu, cpu, host, other } = operator.counts;
    return [operator.op, String(npu), String(cpu + other), String(host), describeReasons(operator)];
  });
  return formatTable([['operator', 'NPU', 'CPU', 'provider', 'why'], ...rows]);
}

function describeReasons({ counts, reasons, unexplained }: BoardOperator): string {
  const shown = reasons.slice(0, SOME).map(({ text, nodes }) => `${text} (${nodes})`);
  const left = reasons.length - shown.length;
  const off = counts.cpu + counts.host + counts.other;
  const silent = unexplained === 0 ? [] : [unexplained === off ? 'no reason given' : `no reason given (${unexplained})`];
  return off === 0 ? '' : [...shown, ...(left > 0 ? [`${left} more reasons`] : []), ...silent].join('; ');
}

function formatNodes(nodes: readonly BoardNode[]): readonly string[] {
  return nodes.map(({ name, op, device, reasons }) => {
    const why = reasons.map(({ text, at }) => `${text} (${at})`).join('; ');
    return `${op} "${name}" on ${device}${why === '' ? '' : `: ${why}`}`;
  });
}

function formatOthers({ others }: BoardReport, { show }: BoardView): readonly string[] {
  const shown = show === 'all' ? others : others.slice(0, SOME);
  const left = others.length - shown.length;
  if (shown.length === 0) return [];
  return [
    'about no single node',
    ...shown.map(({ text, subject, at }) => `  ${subject === undefined ? '' : `${subject}: `}${text} (${at})`),
    ...(left > 0 ? [`  … and ${left} more (--all)`] : []),
  ];
}

function formatSummary({ summary, plan }: BoardReport): readonly string[] {
  const lines = Object.entries(summary).map(
    ([name, { count, percent }]) => `  ${name}: ${count}${percent === undefined ? '' : ` (${percent} %)`}`,
  );
  const planned = Object.entries(plan).map(([device, percent]) => `${device} ${percent} %`);
  return [
    ...(lines.length === 0 ? [] : ["VAIML's summary", ...lines]),
    ...(planned.length === 0 ? [] : [`VAIML's plan, which is no verdict: ${planned.join(', ')}`]),
  ];
}

const PLACES = { npu: 'the NPU', cpu: 'the CPU', host: "the CPU (vendor's provider)", other: 'another device' } as const;

function formatComparison({ differences, both, onlyPredicted, onlyReal }: Comparison, { show }: BoardView): readonly string[] {
  const shown = show === 'all' ? differences : differences.slice(0, SOME);
  const left = differences.length - shown.length;
  return [
    ...shown.map(({ name, opType, predicted, ran, expected, observed }) => {
      const why = [...expected.map(text => `predicted: ${text}`), ...observed.map(text => `board: ${text}`)].join('; ');
      return `${opType} "${name}": predicted on ${PLACES[predicted]}, ran on ${PLACES[ran]}${why === '' ? '' : ` (${why})`}`;
    }),
    ...(left > 0 ? [`… and ${left} more (--all)`] : []),
    `${both - differences.length} of ${countOf(both, 'node')} as predicted; ${onlyPredicted} only predicted, ${onlyReal} only in the report`,
  ];
}

function formatLearned({ observations, unproved, contradicted }: Learned, { profile, style }: BoardView): readonly string[] {
  const rows = observations.map(({ subject, outcome, note }) => [
    `  ${subject.kind === 'form' ? subject.form : subject.ops.join(', ')}`,
    outcome,
    note,
  ]);
  return [
    style('bold', `${countOf(observations.length, 'observation')} in ${profile}`),
    ...formatTable(rows, 'left'),
    ...unproved.map(({ op, why }) => `  not learned: ${op}: ${why}`),
    ...contradicted.map(({ op, outcome, by, was }) => `  ${op}: "${by}" of the profile says ${was}, the board ${outcome}; both apply`),
  ];
}
