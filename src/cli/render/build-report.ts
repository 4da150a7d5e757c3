/** Formats the end of a build: metrics side by side, gates, failures, the artifacts folder, and one summary line. */
import { assertNever } from '../../base/assert-never.js';
import { formatDuration } from '../../base/text/format.js';
import { listSome } from '../../base/text/list-some.js';
import type { Outcome } from '../../engine/model/outcome.js';
import type { Plan, StageId } from '../../engine/model/plan.js';
import type { BuildReport, StageReport } from '../../engine/model/report.js';
import { EXIT, type ExitCode } from '../process/exit-code.js';
import type { Console } from '../terminal/console.js';
import { formatUnreproduced } from './check-report.js';
import { formatFailure } from './format-failure.js';
import { formatHeadlines, type PluginTable, type StageColumn } from './headline-report.js';
import { formatLockLines } from './lock-lines.js';
import { printTables } from './metrics-table.js';
import { formatRemote } from './remote-lines.js';
import { artifactsLine, nothingToDo, printGates, printNothingToDo } from './settled-report.js';

export interface ReportForm {
  /** 'changed': only plugins of which a stage was executed or restored (watch). */
  readonly of: 'all' | 'changed';
  /** 'summary': the headlines. 'full': every figure, in tables. */
  readonly metrics: MetricsForm;
  /** Lines of warnings that have scrolled away. */
  readonly warnings?: readonly string[];
}

export type MetricsForm = 'summary' | 'full';

export function printBuildReport(plan: Plan, report: BuildReport, console: Console, form: ReportForm): void {
  const settled = report.conclusion === 'built' && isNothing(report);
  if (settled && form.of === 'changed') {
    console.line(summarize(report, console));
    return;
  }
  const tables = tablesOf(plan, report, form.of);
  if (form.metrics === 'full')
    printTables(
      tables.map(table => table.map(({ column }) => column)),
      console,
    );
  else if (!settled) printHeadlines(tables, console);
  const notes = notesOf(report, form, console);
  if (settled && form.metrics === 'summary' && notes.length === 0) {
    printNothingToDo({ pipeline: plan.pipeline, stages: report.stages.size, gates: report.gates }, report.durationMs, console);
    return;
  }
  printGates(report.gates, console);
  for (const block of notes) for (const line of ['', ...block]) console.line(line);
  console.line('');
  if (report.conclusion !== 'failed' && report.conclusion !== 'cancelled') {
    console.line(artifactsLine(plan.pipeline));
    for (const path of pagesOf(plan, report)) console.line(`report: ${path}`);
  }
  for (const line of partialPages(plan, report)) console.line(line);
  for (const line of formatRemote(report.remote)) console.line(line);
  console.line(summarize(report, console));
}

function printHeadlines(tables: readonly PluginTable[], console: Console): void {
  const { blocks, omitted } = formatHeadlines(tables, console.width());
  for (const { head, rows } of blocks) {
    console.line('');
    if (head !== undefined) console.line(console.style('bold', head));
    for (const row of rows) console.line(row);
  }
  if (omitted > 0) console.line(console.style('dim', 'all figures: --metrics full'));
}

/** Blocks of lines: the lock, checks, failures, and warnings. */
function notesOf(report: BuildReport, { warnings = [] }: ReportForm, console: Console): readonly (readonly string[])[] {
  const failures = [...report.stages.values()].flatMap(({ stage, outcome }) => {
    if (outcome.kind !== 'failed') return [];
    const skipped = skippedFor(report, stage);
    return [[...formatFailure(stage, outcome.failure, console), ...(skipped === '' ? [] : [`  skipped because it failed: ${skipped}`])]];
  });
  return [
    formatLockLines(report, console),
    ...report.checks.map(check => formatUnreproduced(check, console)),
    ...failures,
    warnings.length === 0 ? [] : [...warnings, '  help: docs/errors.md has the next step of each code'],
  ].filter(block => block.length > 0);
}

/** Paths of the pages for people that the build wrote or found. */
function pagesOf({ stages: planned }: Plan, { stages }: BuildReport): readonly string[] {
  return [...stages.values()].flatMap(({ stage, artifacts }) =>
    Object.entries(artifacts).flatMap(([port, path]) => (planned.get(stage)?.outputPorts[port]?.kind === 'page' ? [path] : [])),
  );
}

/** Pages that skipped stages made from what there is. */
function partialPages({ stages: planned }: Plan, { stages }: BuildReport): readonly string[] {
  return [...stages.values()].flatMap(({ stage, partial }) =>
    Object.entries(partial?.artifacts ?? {})
      .filter(([port]) => planned.get(stage)?.outputPorts[port]?.kind === 'page')
      .map(([, path]) => `partial report, without ${listSome(partial?.without ?? [])}: ${path}`),
  );
}

const MOST_NAMES = 10;

/** Names of the stages that were skipped because this one failed; of many, only the first ones. */
function skippedFor({ stages }: BuildReport, root: StageId): string {
  const names = [...stages.values()].flatMap(({ stage, outcome }) =>
    outcome.kind === 'skipped' && outcome.because === root ? [stage] : [],
  );
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `${names.slice(0, MOST_NAMES).join(', ')}${more}`;
}

/** Stages with metrics, grouped by plugin, in the order of the plan. */
function tablesOf(plan: Plan, report: BuildReport, of: ReportForm['of']): readonly PluginTable[] {
  const byPlugin = new Map<string, { columns: StageColumn[]; changed: number }>();
  for (const { stage, metrics, previousMetrics, outcome } of report.stages.values()) {
    const planned = plan.stages.get(stage);
    if (planned === undefined || metrics === undefined) continue;
    const table = byPlugin.get(planned.plugin.name) ?? { columns: [], changed: 0 };
    table.columns.push({ planned, column: { stage, metrics, previous: previousMetrics } });
    if (outcome.kind === 'executed' || outcome.kind === 'restored') table.changed += 1;
    byPlugin.set(planned.plugin.name, table);
  }
  return [...byPlugin.values()].filter(table => of === 'all' || table.changed > 0).map(table => table.columns);
}

function summarize(report: BuildReport, { style }: Console): string {
  const outcomes = [...report.stages.values()].map(stage => stage.outcome);
  const count = (kind: Outcome['kind']): number => outcomes.filter(outcome => outcome.kind === kind).length;
  const took = formatDuration(report.durationMs);
  if (isNothing(report) && report.conclusion === 'built') {
    return nothingToDo(outcomes.length, report.durationMs, { style });
  }
  const words: readonly (readonly [Outcome['kind'], string])[] = [
    ['executed', 'executed'],
    ['restored', 'restored'],
    ['up-to-date', 'up to date'],
    ['failed', 'failed'],
    ['skipped', 'skipped'],
    ['cancelled', 'cancelled'],
  ];
  const parts = words.filter(([kind]) => count(kind) > 0).map(([kind, word]) => `${count(kind)} ${word}`);
  const compared = countCompared(report);
  if (compared > 0) parts.push(`${compared} run once more`);
  const text = `${headlineOf(report.conclusion)}: ${parts.join(', ')} (${took})`;
  return style(report.conclusion === 'built' ? 'green' : 'red', text);
}

function countCompared({ checks }: BuildReport): number {
  return checks.filter(({ verdict }) => verdict !== 'measured' && verdict !== 'not-compared').length;
}

function isNothing(report: BuildReport): boolean {
  return countCompared(report) === 0 && [...report.stages.values()].every(({ outcome }) => outcome.kind === 'up-to-date');
}

export function headlineOf(conclusion: BuildReport['conclusion']): string {
  switch (conclusion) {
    case 'built':
      return 'built';
    case 'failed':
      return 'failed';
    case 'gate-missed':
      return 'built, but a gate was missed';
    case 'not-reproduced':
      return 'built, but a second run gave different bytes';
    case 'cancelled':
      return 'cancelled';
    default:
      return assertNever(conclusion);
  }
}

export function exitCodeOf(report: BuildReport): ExitCode {
  switch (report.conclusion) {
    case 'built':
      return EXIT.built;
    case 'failed':
      return hasInternal(report) ? EXIT.internal : EXIT.failed;
    case 'gate-missed':
    case 'not-reproduced':
      return EXIT.failed;
    case 'cancelled':
      return EXIT.interrupted;
    default:
      return assertNever(report.conclusion);
  }
}

function hasInternal(report: BuildReport): boolean {
  return [...report.stages.values()].some(({ outcome }) => outcome.kind === 'failed' && outcome.failure.code === 'internal');
}

/** The report as JSON: stable names, no terminal text. */
export function encodeBuildReport(report: BuildReport): unknown {
  const stages = [...report.stages.values()].map(({ stage, outcome, metrics, previousMetrics, locked, artifacts }: StageReport) => ({
    stage,
    outcome,
    metrics,
    previousMetrics,
    locked,
    artifacts,
  }));
  const gates = report.gates.map(({ stage, gate, value, verdict, reasons }) => ({
    stage,
    metric: gate.metric,
    operator: gate.operator,
    bound: gate.bound,
    value,
    verdict,
    reasons,
  }));
  const remote = report.remote === undefined ? {} : { remote: report.remote };
  return { conclusion: report.conclusion, durationMs: report.durationMs, stages, gates, checks: report.checks, ...remote };
}
