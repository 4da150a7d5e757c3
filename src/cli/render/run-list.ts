/** Formats run lists: a line per run; for one stage, a table with its figures. */
import { assertNever } from '../../base/assert-never.js';
import type { Figure } from '../../base/figure.js';
import { formatBytes, formatDuration } from '../../base/text/format.js';
import type { Column } from '../../engine/insight/history/find-columns.js';
import type { RunRecord, RunStage } from '../../engine/insight/history/run-record.js';
import { isOwnFigure } from '../../engine/model/metrics.js';
import type { Console } from '../terminal/console.js';
import { cut, displayWidth, padEnd, widest } from '../terminal/display-width.js';
import { formatTable, GAP } from '../terminal/text-table.js';
import { headlineOf } from './build-report.js';
import { formatMetric } from './format-metric.js';

/** A run with its changes since the run before it. */
export interface ListedRun {
  readonly run: RunRecord;
  readonly changes: readonly string[];
}

/** Changes shown of a run where lines have no limit. */
const MOST_CHANGES = 4;

/**
 * "r2  2026-11-21 13:40:02  built: 4 executed (151 ms)  0.6748  at 3f2ab1c+ (main)  source notes.txt changed", below a head if there are columns.
 * On a terminal, dates and commits are short, and what does not fit is cut.
 */
export function formatRunList(runs: readonly ListedRun[], columns: readonly Column[], { style, width }: Console): readonly string[] {
  const wide = tableOf(runs, columns, 'long');
  const lines = widest(wide) <= width() ? wide : tableOf(runs, columns, 'short').map(line => toWidth(line, width()));
  const [head = '', ...rows] = lines;
  const hasEdits = runs.some(({ run }) => run.revision?.edited === true);
  return [
    ...(columns.length === 0 ? [] : [style('dim', head)]),
    ...rows.map((line, index) => colorRun(line, runs[index]?.run, style)),
    ...(hasEdits ? [style('dim', '+: files of the project had been edited since that commit')] : []),
  ];
}

function tableOf(runs: readonly ListedRun[], columns: readonly Column[], form: 'long' | 'short'): readonly string[] {
  const head = ['run', 'date', 'result', ...columns.map(({ name }) => name), '', ''];
  const rows = runs.map(({ run, changes }) => [
    run.run,
    form === 'long' ? formatDate(run.started) : formatDate(run.started).slice('2026-'.length, -':00'.length),
    form === 'long' ? summarizeRun(run) : summarizeBriefly(run),
    ...columns.map(({ of }) => formatFound(of(run))),
    run.revision === undefined ? '' : form === 'long' ? `at ${formatRevision(run.revision)}` : shortCommit(run.revision),
    [...run.asked.targets, ...(run.asked.force ? ['--force'] : []), ...listSome(changes)].join('  '),
  ]);
  // Without columns there is no head, and it takes no room.
  if (columns.length > 0) return formatTable([head, ...rows], 'left');
  const names = widest(runs.map(({ run }) => run.run));
  const whole = rows.map(([name = '', ...cells]) => [padEnd(name, names), ...cells.filter(cell => cell !== '')].join(GAP));
  return ['', ...(form === 'long' ? whole : formatTable(rows, 'left'))];
}

function listSome(changes: readonly string[]): readonly string[] {
  const more = changes.length - MOST_CHANGES;
  return more <= 0 ? changes : [...changes.slice(0, MOST_CHANGES), `and ${more} more`];
}

function toWidth(line: string, width: number): string {
  return displayWidth(line) <= width ? line : `${cut(line, width - 1)}…`;
}

function colorRun(line: string, run: RunRecord | undefined, style: Console['style']): string {
  if (run === undefined) return line;
  const name = line.slice(0, run.run.length);
  return `${style(run.conclusion === 'built' ? 'green' : 'red', name)}${line.slice(name.length)}`;
}

function formatFound(figure: Figure | undefined): string {
  return figure === undefined ? '–' : formatMetric(figure);
}

/** "r41, 2026-11-21 13:40:02, at 3f2ab1c (main)". */
export function nameRun({ run, started, revision }: RunRecord): string {
  return `${run}, ${formatDate(started)}${revision === undefined ? '' : `, at ${formatRevision(revision)}`}`;
}

/** "+": files were edited. */
export function formatRevision(revision: NonNullable<RunRecord['revision']>): string {
  return `${shortCommit(revision)}${revision.branch === undefined ? '' : ` (${revision.branch})`}`;
}

function shortCommit({ commit, edited }: NonNullable<RunRecord['revision']>): string {
  return `${commit.slice(0, 7)}${edited === true ? '+' : ''}`;
}

/** "built: 4 ran": without what was up to date, and the duration. */
function summarizeBriefly({ conclusion, stages }: RunRecord): string {
  const parts = (
    [
      ['executed', 'ran'],
      ['restored', 'restored'],
      ['failed', 'failed'],
    ] as const
  ).flatMap(([kind, word]) => {
    const count = stages.filter(({ outcome }) => outcome === kind).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return `${conclusion === 'gate-missed' ? 'gate missed' : conclusion}: ${parts.join(', ')}`;
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

/** Local time: "2026-11-21 13:40:02". */
export function formatDate(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The runs in which the stage was not up to date: its headline figures, or the columns if there are any, and its outcome. */
export function formatStageRuns(
  stage: string,
  runs: readonly RunRecord[],
  columns: readonly Column[],
  { style, width }: Console,
): readonly string[] {
  const rows = runs.flatMap(run => {
    const one = run.stages.find(candidate => candidate.stage === stage && candidate.outcome !== 'up-to-date');
    return one === undefined ? [] : [{ run, one }];
  });
  const own = [...new Set(rows.flatMap(({ one }) => Object.keys(one.metrics ?? {})))].filter(isOwnFigure);
  const all = columns.length > 0 ? columns.map(({ name }) => name) : own;
  const cells = (names: readonly string[]): readonly (readonly string[])[] => [
    ['run', 'date', ...names, 'outcome'],
    ...rows.map(({ run, one }) => {
      const figures = names.map((name, index) => (columns.length > 0 ? formatFound(columns[index]?.of(run)) : formatCell(one, name)));
      return [run.run, formatDate(run.started), ...figures, describe(one)];
    }),
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
