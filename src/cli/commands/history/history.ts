/** `tanren history`: lists builds with their outcomes and durations. For a stage, it lists outcomes, durations and figures per run. */
import { findClosest } from '../../../base/text/did-you-mean.js';
import { type Column, findColumns } from '../../../engine/insight/history/find-columns.js';
import { listRunChanges } from '../../../engine/insight/history/run-changes.js';
import type { RunRecord } from '../../../engine/insight/history/run-record.js';
import { openHistory } from '../../pipeline/open-history.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { formatRunList, formatStageRuns } from '../../render/run-list.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';

export interface HistoryOptions {
  readonly file: string;
  readonly last: number;
  readonly columns: readonly string[];
  readonly json: boolean;
}

export async function runHistory(stages: readonly string[], { file, last, columns, json }: HistoryOptions): Promise<ExitCode> {
  const console = makeConsole({ json });
  const all = openHistory(file, console);
  const names = namesIn(all);
  const unknown = stages.filter(stage => !names.has(stage));
  for (const name of unknown) {
    const closest = findClosest(name, names.keys());
    const help = closest === undefined ? '' : `\n  help: did you mean "${closest}"?`;
    console.problem('error', `error[unknown-stage]: no run in the history has a stage "${name}"${help}`);
  }
  if (unknown.length > 0) return EXIT.usage;

  const wanted = new Set(stages.flatMap(stage => [...(names.get(stage) ?? [])]));
  const concerned =
    wanted.size === 0 ? all : all.filter(run => run.stages.some(one => wanted.has(one.stage) && one.outcome !== 'up-to-date'));
  const runs = concerned.slice(-last);
  try {
    const found = findColumns(columns, all);
    const listed = runs.map(run => ({ run, changes: listRunChanges(run, all[all.indexOf(run) - 1]) }));
    if (json) {
      console.json({ runs: listed.map(({ run, changes }) => ({ ...withoutSpans(run, wanted), changes, ...figuresOf(run, found) })) });
      return EXIT.built;
    }
    if (runs.length === 0) console.line('no build has changed a result yet');
    else if (wanted.size === 0) printLines(formatRunList(listed, found, console), console);
    else for (const stage of wanted) printLines(formatStageRuns(stage, runs, found, console), console);
  } catch (error) {
    return endWithError(error, console, { json }, EXIT.usage);
  }
  if (runs.length < concerned.length)
    console.line(console.style('dim', `${concerned.length - runs.length} earlier runs are not shown: use -n to show more`));
  return EXIT.built;
}

function printLines(lines: readonly string[], console: Console): void {
  for (const line of lines) console.line(line);
}

/** The figures of the columns by name, if there are columns. */
function figuresOf(run: RunRecord, columns: readonly Column[]): object {
  if (columns.length === 0) return {};
  return { columns: Object.fromEntries(columns.flatMap(({ name, of }) => (of(run) === undefined ? [] : [[name, of(run)]]))) };
}

/** Stages by their own name and by the name of their group. */
function namesIn(runs: readonly RunRecord[]): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  const add = (name: string, stage: string): void => {
    names.set(name, (names.get(name) ?? new Set()).add(stage));
  };
  for (const { stages } of runs) {
    for (const { stage } of stages) {
      add(stage, stage);
      const at = stage.indexOf('@');
      if (at > 0) add(stage.slice(0, at), stage);
    }
  }
  return names;
}

/** The run without its timeline, which `profile` shows. */
function withoutSpans({ droppedSpans: _, ...run }: RunRecord, wanted: ReadonlySet<string>): object {
  const stages = run.stages.filter(({ stage }) => wanted.size === 0 || wanted.has(stage));
  return { ...run, stages: stages.map(({ spans: _, ...stage }) => stage) };
}
