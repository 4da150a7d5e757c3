/** Opens the plan of a command: loads the pipeline, prints its diagnostics, and resolves the targets. */

import { resolve } from 'node:path';
import { countOf } from '../../base/text/count-of.js';
import { findClosest } from '../../base/text/did-you-mean.js';
import { stampInstallation } from '../../engine/action/code/code-table.js';
import { type PlanReads, recordPlanReads } from '../../engine/action/plan-reads.js';
import { findProjectFolder } from '../../engine/config/project-folder.js';
import { type Diagnostic, formatDiagnostic } from '../../engine/model/diagnostic.js';
import type { Plan, StageId } from '../../engine/model/plan.js';
import { digestCode, findPlanKey, findStoredPlan, type PlanKey, storePlan } from '../../engine/noop/plan-cache.js';
import type { LoadedPipeline, PipelineRequest } from '../../engine/planning/load-pipeline.js';
import type { SettingOverride } from '../../engine/planning/override-settings.js';
import { joinStamps, type RecordedStamps } from '../../engine/store/files/recorded-stamps.js';
import { findInstallRoot } from '../process/install-root.js';
import type { Console } from '../terminal/console.js';
import { loadPlugin, makeBuiltInRegistry } from './plugins.js';

/** Options of every command that reads the pipeline. */
export interface PipelineOptions {
  readonly file: string;
  readonly param: readonly string[];
  readonly paramsFile: readonly string[];
  /** A cache folder that several checkouts share; only for commands that take one. */
  readonly cache?: string;
}

export interface Opened {
  readonly plan: Plan;
  readonly targets: 'all' | readonly StageId[];
  /** The stamps of everything that the plan was made from. Undefined if they are not certain, or if diagnostics must be printed every time. */
  readonly stamps: RecordedStamps | undefined;
}

export interface Loaded extends LoadedPipeline {
  readonly reads: PlanReads;
}

function requestOf(options: PipelineOptions, installRoot: string): PipelineRequest {
  return {
    file: options.file,
    cwd: process.cwd(),
    assignments: options.param,
    paramsFiles: options.paramsFile,
    builtIn: makeBuiltInRegistry(installRoot),
    loadPlugin,
  };
}

/**
 * Parses and plans with the file contents that `readText` returns. Plugins are the current ones. The plan is not cached.
 * @param settings of stages, in place of those of the file.
 * @param isFile whether there is a file at an absolute path; default: on disk.
 */
export async function loadFrom(
  options: PipelineOptions,
  readText: (path: string) => string,
  settings: readonly SettingOverride[] = [],
  isFile?: (path: string) => boolean,
): Promise<LoadedPipeline> {
  const { loadPipeline } = await import('../../engine/planning/load-pipeline.js');
  const request = { ...requestOf(options, findInstallRoot()), readText, settings };
  return loadPipeline(isFile === undefined ? request : { ...request, isFile });
}

/** As `load`, but does not plan a pipeline that needs plugins of its own, because loading them would run their modules. */
export async function loadWithoutPlugins(options: PipelineOptions): Promise<LoadedPipeline> {
  const installRoot = findInstallRoot();
  const request: PipelineRequest = {
    ...requestOf(options, installRoot),
    loadPlugin: name => Promise.reject(new Error(`${name} is not loaded`)),
  };
  const key = findPlanKey(request, digestCode(installRoot), recordPlanReads());
  const kept = key === undefined ? undefined : findStoredPlan(key, request);
  return kept ?? (await import('../../engine/planning/load-pipeline.js')).loadPipeline(request);
}

/** Parses and plans, or returns the plan that an earlier build cached. @param keep 'keep' for commands that may write. */
export async function load(options: PipelineOptions, keep: 'keep' | 'read-only'): Promise<Loaded> {
  const installRoot = findInstallRoot();
  const code = stampInstallation(installRoot);
  const recorder = recordPlanReads();
  const request = { ...requestOf(options, installRoot), observer: recorder };
  const key = findPlanKey(request, digestCode(installRoot), recorder);
  const loaded = (key === undefined ? undefined : findStoredPlan(key, request)) ?? (await plan(request, key, keep));
  const reads = recorder.recorded(findProjectFolder(resolve(request.cwd, request.file)));
  return { ...loaded, reads: reads.stamps === undefined ? reads : { ...reads, stamps: joinStamps([code, reads.stamps]) } };
}

async function plan(request: PipelineRequest, key: PlanKey | undefined, keep: 'keep' | 'read-only'): Promise<LoadedPipeline> {
  const { loadPipeline } = await import('../../engine/planning/load-pipeline.js');
  const loaded = await loadPipeline(request);
  if (key !== undefined && keep === 'keep') await storePlan(key, loaded);
  return loaded;
}

/** The plan and the stages that `targets` name; undefined after diagnostics are printed, with `json` also as a JSON document. @param onRefused receives them then. */
export async function openPlan(
  options: PipelineOptions & { readonly json?: boolean },
  targets: readonly string[],
  console: Console,
  keep: 'keep' | 'read-only' = 'read-only',
  onRefused: (diagnostics: readonly Diagnostic[]) => void = () => undefined,
): Promise<Opened | undefined> {
  const loaded = await load(options, keep);
  const { targets: resolved, diagnostics } = resolveTargets(loaded, targets);
  printDiagnostics(diagnostics, loaded.sources, console, keep === 'keep' ? 'build' : 'read');
  if (loaded.plan !== undefined && resolved !== undefined) {
    return { plan: loaded.plan, targets: resolved, stamps: diagnostics.length > 0 ? undefined : loaded.reads.stamps };
  }
  if (options.json === true) console.json({ diagnostics: diagnostics.map(encodeDiagnostic) });
  onRefused(diagnostics);
  return undefined;
}

/** @param purpose 'build': the last line says that nothing was built. */
export function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  sources: LoadedPipeline['sources'],
  console: Console,
  purpose: 'build' | 'read' = 'build',
): void {
  for (const diagnostic of diagnostics) console.problem(diagnostic.severity, formatDiagnostic(diagnostic, sources));
  const errors = diagnostics.filter(item => item.severity === 'error').length;
  if (errors > 0) console.problem('error', `${countOf(errors, 'error')}${purpose === 'build' ? ': nothing was built' : ''}`);
}

/** Stable names. Lines and columns start at 1, and the end is exclusive. Without a file, the diagnostic concerns the command line. */
export function encodeDiagnostic({ severity, code, message, span, help }: Diagnostic): unknown {
  return { severity, code, message, ...span, help };
}

/** Resolves names of instances and groups. Each unknown name gives a diagnostic in addition to those of the file. Undefined targets if there are errors. */
export function resolveTargets(
  loaded: Omit<LoadedPipeline, 'probes'>,
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
  const help = closest === undefined ? `known stages: ${[...targets.keys()].join(', ')}` : `did you mean "${closest}"?`;
  return { severity: 'error', code: 'unknown-stage', message: `unknown stage "${name}"`, span: undefined, help };
}
