/** Formats the end of a build: metrics side by side, gates, failures, the artifacts folder, and one summary line. */
import { assertNever } from '../../base/assert-never.js';
import { formatDuration } from '../../base/format.js';
import type { Outcome } from '../../engine/model/outcome.js';
import type { Plan, StageId } from '../../engine/model/plan.js';
import type { BuildReport, StageReport } from '../../engine/model/report.js';
import { EXIT, type ExitCode } from '../process/exit-code.js';
import type { Console } from '../terminal/console.js';
import { formatUnreproduced } from './check-report.js';
import { formatFailure } from './format-failure.js';
import { formatLockLines } from './lock-lines.js';
import type { MetricsColumn } from './metrics-table.js';
import { artifactsLine, nothingToDo, printGates, printTables } from './settled-report.js';

/** @param tables 'all', or 'changed': only tables in which a stage was executed or restored (watch). */
export function printBuildReport(plan: Plan, report: BuildReport, console: Console, tables: 'all' | 'changed'): void {
  if (tables === 'changed' && report.conclusion === 'built' && isNothing(report)) {
    console.line(summarize(report, console));
    return;
  }
  printTables(tablesOf(plan, report, tables), console);
  printGates(report.gates, console);
  const locked = formatLockLines(report, console);
  if (locked.length > 0) console.line('');
  for (const line of locked) console.line(line);
  for (const check of report.checks) {
    const lines = formatUnreproduced(check, console);
    if (lines.length > 0) console.line('');
    for (const line of lines) console.line(line);
  }
  const failed = [...report.stages.values()].flatMap(({ stage, outcome }) =>
    outcome.kind === 'failed' ? [{ stage, failure: outcome.failure }] : [],
  );
  for (const { stage, failure } of failed) {
    console.line('');
    for (const line of formatFailure(stage, failure, console)) console.line(line);
    const skipped = skippedFor(report, stage);
    if (skipped !== '') console.line(`  skipped because it failed: ${skipped}`);
  }
  console.line('');
  if (report.conclusion !== 'failed' && report.conclusion !== 'cancelled') console.line(artifactsLine(plan.pipeline));
  console.line(summarize(report, console));
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
function tablesOf(plan: Plan, report: BuildReport, tables: 'all' | 'changed'): readonly (readonly MetricsColumn[])[] {
  const byPlugin = new Map<string, { columns: MetricsColumn[]; changed: number }>();
  for (const { stage, metrics, previousMetrics, outcome } of report.stages.values()) {
    const plugin = plan.stages.get(stage)?.plugin.name;
    if (plugin === undefined || metrics === undefined) continue;
    const table = byPlugin.get(plugin) ?? { columns: [], changed: 0 };
    table.columns.push({ stage, metrics, previous: previousMetrics });
    if (outcome.kind === 'executed' || outcome.kind === 'restored') table.changed += 1;
    byPlugin.set(plugin, table);
  }
  return [...byPlugin.values()].filter(table => tables === 'all' || table.changed > 0).map(table => table.columns);
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
  return checks.filter(({ verdict }) => verdict !== 'measured').length;
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
  return { conclusion: report.conclusion, durationMs: report.durationMs, stages, gates, checks: report.checks };
}
