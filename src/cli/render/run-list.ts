/** Formats run lists: a line per run; for one stage, a table with its figures. */
import { assertNever } from '../../base/assert-never.js';
import { formatBytes, formatDuration } from '../../base/format.js';
import type { RunRecord, RunStage } from '../../engine/insight/history/run-record.js';
import { isHeadline } from '../../engine/model/metrics.js';
import type { Console } from '../terminal/console.js';
import { padEnd, widest } from '../terminal/display-width.js';
import { formatTable } from '../terminal/text-table.js';
import { headlineOf } from './build-report.js';
import { formatMetric } from './metrics-table.js';

/** "r2  2026-11-21 13:40:02  built: 4 executed (151 ms)", followed by the request if it was not for all stages. */
export function formatRunList(runs: readonly RunRecord[], { style }: Console): readonly string[] {
  const width = widest(runs.map(({ run }) => run));
  return runs.map(run => {
    const { revision } = run;
    const asked = formatAsked(run);
    return [
      style('bold', padEnd(run.run, width)),
      formatDate(run.started),
      style(run.conclusion === 'built' ? 'green' : 'red', summarizeRun(run)),
      ...(asked === '' ? [] : [asked]),
      ...(revision === undefined ? [] : [style('dim', `at ${formatRevision(revision)}`)]),
    ].join('  ');
  });
}

/** "r41, 2026-11-21 13:40:02, at 3f2ab1c (main)". */
export function nameRun({ run, started, revision }: RunRecord): string {
  return `${run}, ${formatDate(started)}${revision === undefined ? '' : `, at ${formatRevision(revision)}`}`;
}

export function formatRevision({ commit, branch }: NonNullable<RunRecord['revision']>): string {
  return `${commit.slice(0, 7)}${branch === undefined ? '' : ` (${branch})`}`;
}

/** "built: 4 executed, 2 up to date (151 ms)". */
export function summarizeRun({ conclusion, stages, upToDate, durationMs }: RunRecord): string {
  const count = (kind: RunStage['outcome']): number => stages.filter(({ outcome }) => outcome === kind).length;
  const parts = (['executed', 'restored', 'failed', 'skipped', 'cancelled'] as const).flatMap(kind =>
    count(kind) === 0 ? [] : [`${count(kind)} ${kind}`],
  );
  if (upToDate > 0) parts.push(`${upToDate} up to date`);
  return `${headlineOf(conclusion)}: ${parts.join(', ')} (${formatDuration(durationMs)})`;
}

function formatAsked({ asked }: RunRecord): string {
  return [...asked.targets, ...asked.params.map(param => `-p ${param}`), ...(asked.force ? ['--force'] : [])].join(' ');
}

/** Local time: "2026-11-21 13:40:02". */
export function formatDate(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The runs in which the stage was not up to date: its headline figures and its outcome. */
export function formatStageRuns(stage: string, runs: readonly RunRecord[], { style, width }: Console): readonly string[] {
  const rows = runs.flatMap(run => {
    const one = run.stages.find(candidate => candidate.stage === stage && candidate.outcome !== 'up-to-date');
    return one === undefined ? [] : [{ run, one }];
  });
  const all = [...new Set(rows.flatMap(({ one }) => Object.keys(one.metrics ?? {})))].filter(isHeadline);
  const cells = (names: readonly string[]): readonly (readonly string[])[] => [
    ['run', 'date', ...names, 'outcome'],
    ...rows.map(({ run, one }) => [run.run, formatDate(run.started), ...names.map(name => formatCell(one, name)), describe(one)]),
  ];
  let shown = all.length;
  let table = formatTable(cells(all), 'left');
  while (shown > 0 && widest(table) > width()) {
    shown -= 1;
    table = formatTable(cells(all.slice(0, shown)), 'left');
  }
  const [head = '', ...lines] = table;
  const left = all.length - shown;
  const rest = left === 0 ? [] : [style('dim', `and ${left} more metrics: use --json`)];
  return [style('bold', stage), style('dim', head), ...lines, ...rest, ''];
}

function formatCell({ metrics = {} }: RunStage, name: string): string {
  const figure = Object.hasOwn(metrics, name) ? metrics[name] : undefined;
  return figure === undefined ? '' : formatMetric(figure);
}

function describe({ outcome, durationMs, attempts = 1, peakBytes, failure, because }: RunStage): string {
  switch (outcome) {
    case 'executed':
      return [
        `executed in ${formatDuration(durationMs ?? 0)}`,
        ...(attempts > 1 ? [`try ${attempts}`] : []),
        ...(peakBytes === undefined ? [] : [`${formatBytes(peakBytes)} of memory`]),
      ].join(', ');
    case 'failed':
      return `failed: ${failure === undefined ? '' : (failure.message.split('\n')[0] ?? '')}`;
    case 'skipped':
      return `skipped: ${because ?? 'another stage'} failed`;
    case 'restored':
    case 'cancelled':
      return outcome;
    case 'up-to-date':
      return 'up to date';
    default:
      return assertNever(outcome);
  }
}
