/** How does a command get its plan? Load the pipeline, say what is wrong with it, resolve the targets. */
import { findClosest } from '../base/did-you-mean.js';
import { formatDiagnostic } from '../engine/config/diagnostic.js';
import type { LoadedPipeline, PipelineRequest } from '../engine/config/load-pipeline.js';
import { digestCode, findKeptPlan, findPlanKey, keepPlan } from '../engine/config/plan-cache.js';
import type { Plan, StageId } from '../engine/plan/plan.js';
import { findInstallRoot } from './install-root.js';
import { findPluginFiles, loadPlugin, makeBuiltInRegistry } from './plugins.js';
import type { Console } from './render/console.js';

/** Options of every command that reads the pipeline. */
export interface PipelineOptions {
  readonly file: string;
  readonly param: readonly string[];
  readonly paramsFile: readonly string[];
}

export interface Opened {
  readonly plan: Plan;
  readonly targets: 'all' | readonly StageId[];
  readonly files: readonly string[];
}

/** Parses and plans, or takes the plan that an earlier build kept. @param keep 'keep' for commands that may write. */
export async function load(options: PipelineOptions, keep: 'keep' | 'read-only'): Promise<LoadedPipeline> {
  const installRoot = findInstallRoot();
  const request: PipelineRequest = {
    file: options.file,
    cwd: process.cwd(),
    assignments: options.param,
    paramsFiles: options.paramsFile,
    builtIn: makeBuiltInRegistry(installRoot),
    loadPlugin,
    findPluginFiles,
  };
  const key = findPlanKey(request, digestCode(installRoot));
  const kept = key === undefined ? undefined : findKeptPlan(key, request);
  if (kept !== undefined) return kept;
  const { loadPipeline } = await import('../engine/config/load-pipeline.js');
  const loaded = await loadPipeline(request);
  if (key !== undefined && keep === 'keep') await keepPlan(key, loaded);
  return loaded;
}

/** The plan and the stages that `targets` name, or undefined after the diagnostics have been printed. */
export async function openPlan(
  options: PipelineOptions,
  targets: readonly string[],
  console: Console,
  keep: 'keep' | 'read-only' = 'read-only',
): Promise<Opened | undefined> {
  const loaded = await load(options, keep);
  printDiagnostics(loaded, console);
  if (loaded.plan === undefined) return undefined;
  const resolved = resolveTargets(loaded.plan, targets, console);
  return resolved === undefined ? undefined : { plan: loaded.plan, targets: resolved, files: loaded.files };
}

export function printDiagnostics({ diagnostics, sources }: LoadedPipeline, console: Console): void {
  for (const diagnostic of diagnostics) {
    const [head = '', ...rest] = formatDiagnostic(diagnostic, sources).split('\n');
    console.line([console.style(diagnostic.severity === 'error' ? 'red' : 'yellow', head), ...rest].join('\n'));
  }
  const errors = diagnostics.filter(item => item.severity === 'error').length;
  if (errors > 0) console.line(`${errors} error${errors === 1 ? '' : 's'}: nothing was built`);
}

/** Instances and groups by name; every unknown one is said. */
export function resolveTargets(plan: Plan, names: readonly string[], console: Console): 'all' | readonly StageId[] | undefined {
  if (names.length === 0) return 'all';
  const found: StageId[] = [];
  let unknown = 0;
  for (const name of names) {
    const ids = plan.targets.get(name);
    if (ids !== undefined) found.push(...ids);
    else {
      unknown += 1;
      const closest = findClosest(name, plan.targets.keys());
      console.line(
        `${console.style('red', `error[unknown-stage]: there is no stage "${name}"`)}\n  help: ${closest === undefined ? `there is ${[...plan.targets.keys()].join(', ')}` : `did you mean "${closest}"?`}`,
      );
    }
  }
  return unknown > 0 ? undefined : found;
}
