/** Builds configurations of a pipeline as one plan, and makes their rows. */
import { build } from '../../../engine/build.js';
import { readConfigText } from '../../../engine/config/read-text.js';
import type { Plan, StageId } from '../../../engine/model/plan.js';
import type { BuildReport } from '../../../engine/model/report.js';
import type { FailedRuns } from '../../../engine/schedule/run-services.js';
import { cacheFolderAt } from '../../../engine/store/cache-folder.js';
import type { Configuration } from '../../../engine/sweep/configurations.js';
import { dependsOn, type MergedPlans } from '../../../engine/sweep/merge-plans.js';
import type { Measured } from '../../../engine/sweep/objectives.js';
import type { PlannedSweep } from '../../../engine/sweep/plan-sweep.js';
import { removeSweep } from '../../../engine/sweep/remove-sweep.js';
import { makeRow, type SweepRow } from '../../../engine/sweep/sweep-rows.js';
import type { SweepTargets } from '../../../engine/sweep/sweep-targets.js';
import { makeEnginePorts } from '../../pipeline/engine-ports.js';
import { loadFrom, type PipelineOptions } from '../../pipeline/open-plan.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';
import { makeBuildRenderer, type RenderedLines } from '../../render/build-renderer.js';
import type { Console } from '../../terminal/console.js';
import { nameColumns } from '../../terminal/display-width.js';

export interface BuildOptions extends PipelineOptions {
  readonly jobs?: number;
}

/** Each file is read once, so that all configurations are of one pipeline file. */
export function loaderOf(options: BuildOptions): (configuration: Configuration) => ReturnType<typeof loadFrom> {
  const texts = new Map<string, string>();
  const readText = (path: string): string => {
    const text = texts.get(path) ?? readConfigText(path);
    texts.set(path, text);
    return text;
  };
  return ({ assignments, settings }) => loadFrom({ ...options, param: [...options.param, ...assignments] }, readText, settings);
}

interface BuildManner {
  readonly console: Console;
  readonly signal: AbortSignal;
  readonly lines?: RenderedLines;
  /** 'unless-interrupted' (default): an interrupted build continues with what it has placed. */
  readonly remove?: 'unless-interrupted' | 'always';
  /** Gets the failures, for a build that goes on from this one. */
  readonly failedRuns?: FailedRuns;
}

/** How long the removal after an interruption waits for another build to end. */
const REMOVAL_MS = 5000;

export interface BuiltSweep {
  readonly report: BuildReport;
  /** In the order of the planned configurations, then those that were refused. */
  readonly rows: readonly SweepRow[];
}

/** Builds without the pipeline's lock file and history. The artifacts are links, so that many configurations take no further space. */
export async function buildConfigurations(
  { planned, refused }: PlannedSweep,
  { merged, targets }: { readonly merged: MergedPlans; readonly targets: SweepTargets },
  options: BuildOptions,
  how: BuildManner,
): Promise<BuiltSweep> {
  const report = await buildMerged(merged.plan, targets, options, how);
  const built = planned.map(({ configuration }, index) =>
    makeRow(configuration, merged.stages[index] ?? new Map(), { merged, targets, report }),
  );
  const others = refused.map(
    ({ configuration, errors }): SweepRow => ({
      configuration,
      status: 'refused',
      figures: new Map(),
      headlines: new Set(),
      missed: [],
      sizeBytes: undefined,
      problems: errors.map(({ code, message }) => ({ stage: undefined, code, message })),
    }),
  );
  return { report, rows: [...built, ...others] };
}

async function buildMerged(
  plan: Plan,
  targets: SweepTargets,
  options: BuildOptions,
  { console, signal, lines = 'all', remove = 'unless-interrupted', failedRuns = new Map() }: BuildManner,
): Promise<BuildReport> {
  const renderer = makeBuildRenderer(console, nameColumns(plan.stages.keys(), console.width()), lines);
  const ports = { ...makeEnginePorts(renderer.emit, signal), artifacts: 'links' as const };
  const { jobs } = options;
  const sharedCache = findSharedCache(options.cache);
  const cache = cacheFolderAt(`${plan.projectFolder}/cache`);
  const building = build(
    plan,
    { targets: targets.build, failures: 'keep-going', force: 'never', sharedCache, failedRuns, ...(jobs === undefined ? {} : { jobs }) },
    ports,
  ).finally(renderer.end);
  const removeWith = (until: AbortSignal): Promise<void> => removeSweep(plan, cache, { ...ports, signal: until });
  if (remove === 'always') return building.finally(() => removeWith(signal.aborted ? AbortSignal.timeout(REMOVAL_MS) : signal));
  const report = await building;
  if (!signal.aborted) await removeWith(signal);
  return report;
}

/** The figures of rows, for the search of metrics by name. */
export function measuredBy(rows: readonly SweepRow[], { plan, stages }: MergedPlans, reported: readonly StageId[]): Measured {
  return {
    keys: new Set(rows.flatMap(({ figures }) => [...figures.keys()])),
    stages: reported,
    hasSize: rows.some(({ sizeBytes }) => sizeBytes !== undefined),
    // All ids are those of the pipeline; in some configuration.
    isAfter: (stage, others) =>
      stages.some(ids => {
        const id = ids.get(stage);
        return id !== undefined && dependsOn(plan, id, new Set([...others].flatMap(other => ids.get(other) ?? [])));
      }),
  };
}
