/** `tanren log STAGE`: what did its last run write? */
import { findStageLog } from '../../engine/stage-log.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { openPlan, type PipelineOptions } from '../open-plan.js';
import { makeConsole } from '../render/console.js';

export async function runLog(targets: readonly string[], options: PipelineOptions): Promise<ExitCode> {
  const console = makeConsole({ json: false });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const ids = opened.targets === 'all' ? [...opened.plan.stages.keys()] : opened.targets;
  for (const id of ids) {
    if (ids.length > 1) console.line(console.style('bold', `── ${id}`));
    console.line((findStageLog(opened.plan, id) ?? `${id} has no log: it has not run, or wrote nothing`).trimEnd());
  }
  return EXIT.built;
}
