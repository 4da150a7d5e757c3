/** `tanren log STAGE`: prints the log of a stage's last run. With --run, it prints the log of the result that the stage had in that run. */
import { assertNever } from '../../../base/assert-never.js';
import { getRunIndex } from '../../../engine/insight/history/run-name.js';
import { findRunLog, findStageLog, type RunLogAnswer } from '../../../engine/insight/history/stage-log.js';
import type { Plan, StageId } from '../../../engine/model/plan.js';
import { cachesOf } from '../../pipeline/open-cache.js';
import { openHistory } from '../../pipeline/open-history.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';

export type LogOptions = PipelineOptions & { readonly run?: string };

export async function runLog(targets: readonly string[], options: LogOptions): Promise<ExitCode> {
  const console = makeConsole({ json: false });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const ids = opened.targets === 'all' ? [...opened.plan.stages.keys()] : opened.targets;
  try {
    const find =
      options.run === undefined ? findNewest(opened.plan) : findIn(options.run, opened.plan, options, openHistory(options.file, console));
    for (const id of ids) {
      if (ids.length > 1) console.line(console.style('bold', `── ${id}`));
      console.line(find(id).trimEnd());
    }
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, { json: false }, EXIT.usage);
  }
}

function findNewest(plan: Plan): (stage: StageId) => string {
  return stage => findStageLog(plan, stage) ?? `${stage} has no log: it never ran, or its run wrote nothing`;
}

/** @throws EngineError `no-such-run`. */
function findIn(name: string, plan: Plan, options: LogOptions, runs: ReturnType<typeof openHistory>): (stage: StageId) => string {
  const index = getRunIndex(runs, name);
  const cache = cachesOf(options);
  return stage => describe(findRunLog(plan, cache, runs, index, stage), stage, runs[index]?.run ?? name);
}

function describe(answer: RunLogAnswer, stage: StageId, run: string): string {
  switch (answer.kind) {
    case 'text':
      return answer.text;
    case 'nothing':
      return `${stage} wrote nothing in ${run}`;
    case 'never-ran':
      return `${stage} had no result in ${run}`;
    case 'not-kept':
      return `the log of ${stage} in ${run} was removed`;
    default:
      return assertNever(answer);
  }
}
