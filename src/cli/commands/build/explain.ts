/**
 * `tanren explain STAGE`: explains why a stage would run: what changed since its last result, root cause first,
 * with the path from each change to the stage.
 */
import { type Explanation, explainStages } from '../../../engine/insight/explain/explain-stages.js';
import { makeEnginePorts, neverAborted } from '../../pipeline/engine-ports.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { formatFailure } from '../../render/format-failure.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { formatDevice, formatStatus } from './status.js';

export async function runExplain(targets: readonly string[], options: PipelineOptions & { readonly json: boolean }): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const ports = makeEnginePorts(event => {
    if (event.kind === 'warning') console.problem('warning', `warning[${event.code}]: ${event.message}`);
  }, neverAborted);
  const explained = await explainStages(opened.plan, opened.targets, ports, { sharedCache: findSharedCache(options.cache) });
  const ids = opened.targets === 'all' ? [...explained.keys()] : opened.targets;
  const explanations = ids.flatMap(id => explained.get(id) ?? []);
  if (options.json) console.json(explanations.length === 1 ? explanations[0] : explanations);
  else for (const explanation of explanations) printExplanation(explanation, console);
  return EXIT.built;
}

function printExplanation({ stage, status, lastBuilt, manifest, device, causes }: Explanation, console: Console): void {
  // The first line does not repeat what is listed below.
  const brief = causes.length > 0 && 'reasons' in status ? { ...status, reasons: [] } : status;
  for (const line of formatStatus(console.style('bold', stage), brief, console)) console.line(line);
  if (status.kind === 'impossible') for (const line of formatFailure(stage, status.failure, console)) console.line(line);
  if (device !== undefined) console.line(`  ${formatDevice(device)}`);
  for (const { cause, text, path } of causes) {
    if (cause.kind !== 'impossible' || path.length > 1) console.line(`  ${path.length > 1 ? [text, ...path].join(' ⇒ ') : text}`);
  }
  if (manifest !== undefined && lastBuilt === 'never')
    console.line(`  manifest: ${JSON.stringify(manifest, null, 2).replaceAll('\n', '\n  ')}`);
}
