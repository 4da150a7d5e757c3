/** `tanren explain STAGE`: why did it run, or would it? The difference of the last manifest and the present one. */
import { describeChange } from '../../engine/action/changes.js';
import { explainStage } from '../../engine/explain.js';
import { makeEnginePorts, neverAborted } from '../engine-ports.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { openPlan, type PipelineOptions } from '../open-plan.js';
import { makeConsole } from '../render/console.js';
import { formatFailure } from '../render/format-failure.js';
import { findSharedCache } from '../shared-cache.js';
import { formatDevice, formatStatus } from './status.js';

export async function runExplain(targets: readonly string[], options: PipelineOptions & { readonly json: boolean }): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const ports = makeEnginePorts(() => undefined, neverAborted);
  const ids = opened.targets === 'all' ? [...opened.plan.stages.keys()] : opened.targets;
  const explanations = [];
  for (const id of ids) explanations.push(await explainStage(opened.plan, id, ports, { sharedCache: findSharedCache(options.cache) }));
  if (options.json) {
    console.json(explanations.length === 1 ? explanations[0] : explanations);
    return EXIT.built;
  }
  for (const { stage, status, lastBuilt, manifest, device } of explanations) {
    const changes = status.kind === 'stale' || status.kind === 'restorable' ? status.changes : [];
    // What is listed below need not stand in the first line too.
    const brief = changes.length > 0 && 'reasons' in status ? { ...status, reasons: [] } : status;
    for (const line of formatStatus(console.style('bold', stage), brief, console)) console.line(line);
    if (status.kind === 'impossible') for (const line of formatFailure(stage, status.failure, console)) console.line(line);
    if (device !== undefined) console.line(`  ${formatDevice(device)}`);
    if (lastBuilt === 'never' && !('reasons' in status)) console.line('  never built');
    for (const change of changes) console.line(`  ${describeChange(change)}`);
    if (manifest !== undefined && lastBuilt === 'never')
      console.line(`  manifest: ${JSON.stringify(manifest, null, 2).replaceAll('\n', '\n  ')}`);
  }
  return EXIT.built;
}
