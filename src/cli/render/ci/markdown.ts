/** A build as Markdown, for the summary of a CI step or a comment: outcomes, gates, failures, COCO figures, and changes against a base. */

import { EQUAL, type Figure } from '../../../base/figure.js';
import { isJsonObject, type Json, type JsonObject } from '../../../base/json.js';
import { formatDuration } from '../../../base/text/format.js';
import { COCO_FIGURE_NAMES } from '../../../detection/coco/figure-names.js';
import type { SnapshotDifference } from '../../../engine/insight/history/compare-snapshots.js';
import { formatDiagnostic } from '../../../engine/model/diagnostic.js';
import { describeOutcome } from '../../../engine/model/outcome.js';
import type { BuildReport, StageReport } from '../../../engine/model/report.js';
import { headlineOf } from '../build-report.js';
import { formatUnreproduced } from '../check-report.js';
import { formatMetric, formatSigned } from '../format-metric.js';
import { formatRemote } from '../remote-lines.js';
import type { EndedCommand } from './ended-command.js';
import { failureText, PLAIN } from './failure-text.js';

/** Rows of a table; GitHub takes at most 1 MiB for a step. */
const MOST_ROWS = 200;
/** Characters of one failure. */
const MOST_CHARACTERS = 10_000;

export function formatMarkdown(ended: EndedCommand): string {
  if (ended.kind === 'refused') {
    const texts = ended.diagnostics.map(diagnostic => fence(formatDiagnostic(diagnostic, new Map())));
    return join(['### ✗ Tanren: nothing was built', ...texts]);
  }
  const { plan, report, comparison } = ended;
  return join([
    `### ${report.conclusion === 'built' ? '✓' : '✗'} Tanren: ${escapeText(headlineOf(report.conclusion))}`,
    `\`${plan.pipeline}\`: ${countOutcomes(report)} (${formatDuration(report.durationMs)})`,
    ...formatRemote(report.remote).map(escapeText),
    gatesOf(report),
    ...failuresOf(report),
    cocoOf(report, comparison),
    changesOf(comparison),
    stagesOf(report),
  ]);
}

function join(blocks: readonly string[]): string {
  return `${blocks.filter(block => block !== '').join('\n\n')}\n`;
}

function countOutcomes({ stages }: BuildReport): string {
  const kinds = [...stages.values()].map(({ outcome }) => outcome.kind);
  const names = ['executed', 'restored', 'up-to-date', 'failed', 'skipped', 'cancelled'] as const;
  const parts = names.map(name => [name, kinds.filter(kind => kind === name).length] as const).filter(([, count]) => count > 0);
  return parts.map(([name, count]) => `${count} ${name.replaceAll('-', ' ')}`).join(', ');
}

function gatesOf({ gates }: BuildReport): string {
  return table(
    ['', 'gate', 'bound', 'value'],
    gates.map(({ stage, gate, value, verdict, reasons = [] }) => [
      verdict === 'met' ? '✓' : '✗',
      `${stage}: ${gate.metric}`,
      `${gate.operator} ${gate.bound}`,
      [value === undefined ? 'no such metric' : formatMetric(value), ...reasons].join('; '),
    ]),
  );
}

function failuresOf({ stages, checks }: BuildReport): readonly string[] {
  const failed = [...stages.values()].flatMap(({ stage, outcome }) =>
    outcome.kind === 'failed' ? [failureText(stage, outcome.failure)] : [],
  );
  const unreproduced = checks.map(check => formatUnreproduced(check, PLAIN).join('\n'));
  return [...failed, ...unreproduced].filter(text => text !== '').map(fence);
}

/** A row per stage and kind of detection, with the difference from the base. */
function cocoOf({ stages }: BuildReport, comparison: SnapshotDifference | undefined): string {
  const rows = [...stages.values()].flatMap(({ stage, metrics }) =>
    Object.entries(metrics ?? {}).flatMap(([type, figures]) =>
      isCoco(figures)
        ? [[stage, type, ...COCO_FIGURE_NAMES.map(name => cocoCell(figures[name], beforeOf(comparison, stage, `${type}.${name}`)))]]
        : [],
    ),
  );
  const note =
    comparison === undefined || rows.length === 0 ? '' : `\n\nin parentheses: the difference from ${escapeText(comparison.before)}`;
  return `${table(['stage', '', ...COCO_FIGURE_NAMES], rows)}${note}`;
}

function isCoco(figures: Json): figures is JsonObject {
  return isJsonObject(figures) && ['AP', 'AP50', 'AP75', 'AR100'].every(name => typeof figures[name] === 'number');
}

function cocoCell(value: unknown, before: Figure | undefined): string {
  if (typeof value !== 'number') return '';
  const difference = typeof before === 'number' ? value - before : undefined;
  return difference === undefined || difference === 0 ? formatMetric(value) : `${formatMetric(value)} (${formatSigned(difference, value)})`;
}

function beforeOf(comparison: SnapshotDifference | undefined, stage: string, metric: string): Figure | undefined {
  return comparison?.stages.find(one => one.stage === stage)?.metrics.find(one => one.metric === metric)?.before;
}

/** Params and figures that differ from the base. */
function changesOf(comparison: SnapshotDifference | undefined): string {
  if (comparison === undefined) return '';
  const { before, after, stages } = comparison;
  const rows = stages.flatMap(({ stage, presence, params, metrics, unknown }) => [
    ...(presence === 'both' ? [] : [[stage, presence, '', '', '']]),
    ...unknown.map(({ what, side }) => [stage, what, `unknown for ${side}`, '', '']),
    ...params.map(({ label, before: from, after: to }) => [stage, label, json(from), json(to), '']),
    ...metrics
      .filter(row => row.before !== row.after)
      .map(row => [stage, row.metric, figure(row.before), figure(row.after), differenceOf(row)]),
  ]);
  const notes = comparison.notes.map(note => `\n\n${escapeText(note)}`).join('');
  const title = `#### Changes since ${escapeText(before)}`;
  return rows.length === 0 ? `${title}\n\nnone${notes}` : `${title}\n\n${table(['stage', '', before, after, ''], rows)}${notes}`;
}

function json(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value);
}

function figure(value: Figure | undefined): string {
  return value === undefined ? '' : formatMetric(value);
}

function differenceOf({ before, after }: { readonly before: Figure | undefined; readonly after: Figure | undefined }): string {
  if (before === undefined || after === undefined || before === EQUAL || after === EQUAL) return '';
  return formatSigned(after - before, after);
}

/** Folded, because a summary is read for what changed. */
function stagesOf({ stages }: BuildReport): string {
  const rows = [...stages.values()].map(({ stage, outcome }: StageReport) => [stage, describeOutcome(outcome)]);
  return `<details><summary>${rows.length} stages</summary>\n\n${table(['stage', ''], rows)}\n\n</details>`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeText).join(' | ')} |`;
  const more = rows.length > MOST_ROWS ? `\n\n${rows.length - MOST_ROWS} more rows are not shown` : '';
  return `${[line(head), `|${' --- |'.repeat(head.length)}`, ...rows.slice(0, MOST_ROWS).map(line)].join('\n')}${more}`;
}

/** Text in a cell or a line: nothing in it is markup. */
function escapeText(text: string): string {
  const clipped = text.length > 500 ? `${text.slice(0, 500)}…` : text;
  return clipped
    .replaceAll(/\p{Cc}+/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[\\`*_[\]|~#]/g, character => `\\${character}`);
}

/** A block of code, in a fence that is longer than any in the text. */
function fence(text: string): string {
  const clipped = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
  const longest = Math.max(2, ...[...clipped.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = '`'.repeat(longest + 1);
  return `${marks}text\n${clipped}\n${marks}`;
}
