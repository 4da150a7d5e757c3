/** `tanren status`, and `build --dry-run`: what would a build do, and why? Writes nothing. */
import { assertNever } from '../../base/assert-never.js';
import { computeStatus, type StageStatus } from '../../engine/status.js';
import { makeEnginePorts, neverAborted } from '../engine-ports.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { openPlan, type PipelineOptions } from '../open-plan.js';
import { formatFailure } from '../render/build-report.js';
import { type Console, makeConsole } from '../render/console.js';

export async function runStatus(
  targets: readonly string[],
  options: PipelineOptions & { readonly json: boolean; readonly force?: boolean },
): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const warn = makeEnginePorts(event => {
    if (event.kind === 'warning') console.line(console.style('yellow', `warning[${event.code}]: ${event.message}`));
  }, neverAborted);
  const statuses = await computeStatus(opened.plan, { targets: opened.targets, force: options.force === true ? 'targets' : 'never' }, warn);
  if (options.json) {
    console.json({ stages: [...statuses].map(([stage, status]) => ({ stage, ...status })) });
    return EXIT.built;
  }
  const width = Math.max(...[...statuses.keys()].map(id => id.length));
  for (const [stage, status] of statuses) {
    for (const line of formatStatus(stage.padEnd(width), status, console)) console.line(line);
    if (status.kind === 'impossible') for (const line of formatFailure(stage, status.failure, console)) console.line(line);
  }
  const open = [...statuses.values()].filter(status => status.kind !== 'up-to-date').length;
  console.line(open === 0 ? `nothing to do: ${statuses.size} stages up to date` : `${open} of ${statuses.size} stages are not up to date`);
  return EXIT.built;
}

export function formatStatus(name: string, status: StageStatus, { style }: Console): string[] {
  switch (status.kind) {
    case 'up-to-date':
      return [`${name}  ${style('green', 'up to date')}`];
    case 'restorable':
      return [`${name}  ${style('cyan', 'restored from the cache')}${because(status.reasons)}`];
    case 'stale':
      return [`${name}  ${style('yellow', 'would run')}${because(status.reasons)}`];
    case 'undecided':
      return [`${name}  ${style('yellow', 'depends')} on what ${status.because.join(', ')} will give`];
    case 'impossible':
      return [`${name}  ${style('red', 'cannot run')}`];
    default:
      return assertNever(status);
  }
}

function because(reasons: readonly string[]): string {
  return reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
}
