/** How does a command get its plan? Load the pipeline, say what is wrong with it, resolve the targets. */
import { findClosest } from '../base/did-you-mean.js';
import { seeCode } from '../engine/action/code/code-table.js';
import { type Diagnostic, formatDiagnostic } from '../engine/model/diagnostic.js';
import type { Plan, StageId } from '../engine/model/plan.js';
import { digestCode, findKeptPlan, findPlanKey, keepPlan } from '../engine/noop/plan-cache.js';
import type { LoadedPipeline, PipelineRequest } from '../engine/planning/load-pipeline.js';
import { joinSights, type Sights } from '../engine/store/files/sights.js';
import { findInstallRoot } from './install-root.js';
import { findPluginFiles, loadPlugin, makeBuiltInRegistry } from './plugins.js';
import type { Console } from './render/console.js';

/** Options of every command that reads the pipeline. */
export interface PipelineOptions {
  readonly file: string;
  readonly param: readonly string[];
  readonly paramsFile: readonly string[];
  /** A cache folder that checkouts share, of the commands that take one. */
  readonly cache?: string;
}

export interface Opened {
  readonly plan: Plan;
  readonly targets: 'all' | readonly StageId[];
  readonly files: readonly string[];
  /** How all that the plan was made from looked; undefined where that is not sure, or where something has to be said of it every time. */
  readonly sights: Sights | undefined;
}

export interface Loaded extends LoadedPipeline {
  readonly sights: Sights | undefined;
}

function requestOf(options: PipelineOptions, installRoot: string): PipelineRequest {
  return {
    file: options.file,
    cwd: process.cwd(),
    assignments: options.param,
    paramsFiles: options.paramsFile,
    builtIn: makeBuiltInRegistry(installRoot),
    loadPlugin,
    findPluginFiles,
  };
}

/** Parses and plans what `readText` says that the files hold; plugins are those of now. Nothing is kept. */
export async function loadFrom(options: PipelineOptions, readText: (path: string) => string): Promise<LoadedPipeline> {
  const { loadPipeline } = await import('../engine/planning/load-pipeline.js');
  return loadPipeline({ ...requestOf(options, findInstallRoot()), readText });
}

/** As `load`, but a pipeline that needs a plugin of its own is not planned: its modules would run. */
export async function loadWithoutPlugins(options: PipelineOptions): Promise<LoadedPipeline> {
  const installRoot = findInstallRoot();
  const request: PipelineRequest = {
    ...requestOf(options, installRoot),
    loadPlugin: name => Promise.reject(new Error(`${name} is not loaded`)),
    findPluginFiles: async () => [],
  };
  const key = findPlanKey(request, digestCode(installRoot));
  const kept = key === undefined ? undefined : findKeptPlan(key, request);
  return kept ?? (await import('../engine/planning/load-pipeline.js')).loadPipeline(request);
}

/** Parses and plans, or takes the plan that an earlier build kept. @param keep 'keep' for commands that may write. */
export async function load(options: PipelineOptions, keep: 'keep' | 'read-only'): Promise<Loaded> {
  const installRoot = findInstallRoot();
  const request = requestOf(options, installRoot);
  const code = seeCode(installRoot);
  const key = findPlanKey(request, digestCode(installRoot));
  const sights = key?.sights === undefined ? undefined : joinSights([code, key.sights]);
  const kept = key === undefined ? undefined : findKeptPlan(key, request);
  if (kept !== undefined) return { ...kept, sights };
  const { loadPipeline } = await import('../engine/planning/load-pipeline.js');
  const loaded = await loadPipeline(request);
  if (key !== undefined && keep === 'keep') await keepPlan(key, loaded);
  return { ...loaded, sights };
}

/** The plan and the stages that `targets` name, or undefined after the diagnostics have been said: as a JSON document too with `json`. */
export async function openPlan(
  options: PipelineOptions & { readonly json?: boolean },
  targets: readonly string[],
  console: Console,
  keep: 'keep' | 'read-only' = 'read-only',
): Promise<Opened | undefined> {
  const loaded = await load(options, keep);
  const { targets: resolved, diagnostics } = resolveTargets(loaded, targets);
  printDiagnostics(diagnostics, loaded.sources, console);
  if (loaded.plan !== undefined && resolved !== undefined) {
    const sights = diagnostics.length > 0 ? undefined : loaded.sights;
    return { plan: loaded.plan, targets: resolved, files: loaded.files, sights };
  }
  if (options.json === true) console.json({ diagnostics: diagnostics.map(encodeDiagnostic) });
  return undefined;
}

export function printDiagnostics(diagnostics: readonly Diagnostic[], sources: LoadedPipeline['sources'], console: Console): void {
  for (const diagnostic of diagnostics) console.problem(diagnostic.severity, formatDiagnostic(diagnostic, sources));
  const errors = diagnostics.filter(item => item.severity === 'error').length;
  if (errors > 0) console.problem('error', `${errors} error${errors === 1 ? '' : 's'}: nothing was built`);
}

/** Stable names; lines and columns count from 1, and the end is exclusive. Without a file it concerns the command line. */
export function encodeDiagnostic({ severity, code, message, span, help }: Diagnostic): unknown {
  return { severity, code, message, ...span, help };
}

/** Instances and groups by name; every unknown one is a diagnostic beside those of the file. Undefined where there are errors. */
export function resolveTargets(
  loaded: LoadedPipeline,
  names: readonly string[],
): { readonly targets: 'all' | readonly StageId[] | undefined; readonly diagnostics: readonly Diagnostic[] } {
  const { plan, diagnostics } = loaded;
  if (plan === undefined) return { targets: undefined, diagnostics };
  if (names.length === 0) return { targets: 'all', diagnostics };
  const unknown = names.filter(name => !plan.targets.has(name));
  if (unknown.length > 0) return { targets: undefined, diagnostics: [...unknown.map(name => unknownTarget(name, plan)), ...diagnostics] };
  return { targets: [...new Set(names.flatMap(name => plan.targets.get(name) ?? []))], diagnostics };
}

function unknownTarget(name: string, { targets }: Plan): Diagnostic {
  const closest = findClosest(name, targets.keys());
  const help = closest === undefined ? `there is ${[...targets.keys()].join(', ')}` : `did you mean "${closest}"?`;
  return { severity: 'error', code: 'unknown-stage', message: `there is no stage "${name}"`, span: undefined, help };
}
