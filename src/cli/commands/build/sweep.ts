/** `tanren sweep`: builds the pipeline with every combination of values, and compares the results. */
import { build } from '../../../engine/build.js';
import { readConfigText } from '../../../engine/config/read-text.js';
import type { Diagnostic } from '../../../engine/model/diagnostic.js';
import { makeDiagnosticList } from '../../../engine/model/diagnostic.js';
import type { Plan, StageId } from '../../../engine/model/plan.js';
import type { BuildReport } from '../../../engine/model/report.js';
import { cacheFolderAt } from '../../../engine/store/cache-folder.js';
import { type Configuration, combine, countConfigurations, MAX_CONFIGURATIONS } from '../../../engine/sweep/configurations.js';
import { dependsOn, type MergedPlans, mergePlans } from '../../../engine/sweep/merge-plans.js';
import { findObjectives, type Goal } from '../../../engine/sweep/objectives.js';
import { findBadValues, type PlannedSweep, planSweep } from '../../../engine/sweep/plan-sweep.js';
import { rankRows } from '../../../engine/sweep/rank.js';
import { removeSweep } from '../../../engine/sweep/remove-sweep.js';
import type { Axis } from '../../../engine/sweep/resolve-axis.js';
import { makeRow, type SweepRow } from '../../../engine/sweep/sweep-rows.js';
import { chooseTargets, type SweepTargets } from '../../../engine/sweep/sweep-targets.js';
import { makeEnginePorts } from '../../pipeline/engine-ports.js';
import { encodeDiagnostic, loadFrom, openPlan, type PipelineOptions, printDiagnostics } from '../../pipeline/open-plan.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';
import { readAxes } from '../../pipeline/sweep-axes.js';
import { setBuildProcessFlags } from '../../process/build-process-flags.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { makeBuildRenderer } from '../../render/build-renderer.js';
import { exitCodeOf } from '../../render/build-report.js';
import { encodeSweep } from '../../render/encode-sweep.js';
import { checkSweepOutput, writeSweepOutputs } from '../../render/sweep-files.js';
import { printSweep, type Sweep } from '../../render/sweep-report.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { widest } from '../../terminal/display-width.js';
import { endWithError } from '../../terminal/end-with-error.js';

export interface SweepOptions extends PipelineOptions {
  readonly vary: readonly string[];
  readonly maximize: readonly string[];
  readonly minimize: readonly string[];
  readonly output: readonly string[];
  readonly jobs?: number;
  readonly json: boolean;
}

export async function runSweep(targets: readonly string[], options: SweepOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  try {
    for (const path of options.output) checkSweepOutput(path);
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const diagnostics = makeDiagnosticList();
  const axes = readAxes(options, opened.plan, diagnostics);
  const count = countConfigurations(axes);
  if (count > MAX_CONFIGURATIONS)
    diagnostics.error(
      'too-many-configurations',
      undefined,
      `the sweep has ${count} configurations; at most ${MAX_CONFIGURATIONS} are built`,
    );
  if (diagnostics.hasErrors()) return refuse(diagnostics.items, options, console);
  const sweep = await planSweep(combine(axes), loaderOf(options));
  const bad = findBadValues(axes, sweep);
  if (bad.length > 0) return refuse(bad, options, console);
  return buildSweep(targets, { base: opened.plan, axes, sweep }, options, console);
}

/** Prints the errors in the arguments. */
function refuse(diagnostics: readonly Diagnostic[], options: SweepOptions, console: Console): ExitCode {
  printDiagnostics(diagnostics, new Map(), console);
  if (options.json) console.json({ diagnostics: diagnostics.map(encodeDiagnostic) });
  return EXIT.usage;
}

/** Each file is read once, so that all configurations are of one pipeline file. */
function loaderOf(options: SweepOptions): (configuration: Configuration) => ReturnType<typeof loadFrom> {
  const texts = new Map<string, string>();
  const readText = (path: string): string => {
    const text = texts.get(path) ?? readConfigText(path);
    texts.set(path, text);
    return text;
  };
  return ({ assignments, settings }) => loadFrom({ ...options, param: [...options.param, ...assignments] }, readText, settings);
}

interface Opened {
  readonly base: Plan;
  readonly axes: readonly Axis[];
  readonly sweep: PlannedSweep;
}

async function buildSweep(asked: readonly string[], opened: Opened, options: SweepOptions, console: Console): Promise<ExitCode> {
  const { base, axes, sweep } = opened;
  const plans = sweep.planned.map(({ plan }) => plan);
  const merged = mergePlans(base, plans);
  const wanted = plans.map((plan): readonly StageId[] => asked.flatMap(name => plan.targets.get(name) ?? []));
  const targets = chooseTargets(plans, merged, asked.length === 0 ? 'changed' : wanted);
  if (targets.build.length === 0) {
    const message = 'no stage with metrics depends on what the sweep changes';
    return refuse(
      [{ severity: 'error', code: 'nothing-to-sweep', message, span: undefined, help: 'name the stages to build' }],
      options,
      console,
    );
  }
  setBuildProcessFlags();
  const { report, interrupted } = await buildMerged(merged, targets, options, console);
  const rows = [
    ...sweep.planned.map(({ configuration }, index) =>
      makeRow(configuration, merged.stages[index] ?? new Map(), { merged, targets, report }),
    ),
    ...sweep.refused.map(
      ({ configuration, errors }): SweepRow => ({
        configuration,
        status: 'refused',
        figures: new Map(),
        missed: [],
        sizeBytes: undefined,
        problems: errors.map(({ code, message }) => ({ stage: undefined, code, message })),
      }),
    ),
  ];
  const ended = await show({ pipeline: base.pipeline, axes, rows }, { merged, targets, options, console });
  if (interrupted || report.conclusion === 'cancelled') return EXIT.interrupted;
  if (report.conclusion === 'failed') return exitCodeOf(report);
  return sweep.refused.length > 0 ? EXIT.failed : ended;
}

/** Builds without the pipeline's lock file and history. The artifacts are links, so that many configurations take no further space. */
async function buildMerged(
  { plan }: MergedPlans,
  targets: SweepTargets,
  options: SweepOptions,
  console: Console,
): Promise<{ readonly report: BuildReport; readonly interrupted: boolean }> {
  const renderer = makeBuildRenderer(console, widest(plan.stages.keys()));
  const signal = abortOnSignals();
  const ports = { ...makeEnginePorts(renderer.emit, signal), artifacts: 'links' as const };
  const { jobs } = options;
  const sharedCache = findSharedCache(options.cache);
  const report = await build(
    plan,
    { targets: targets.build, failures: 'keep-going', force: 'never', sharedCache, ...(jobs === undefined ? {} : { jobs }) },
    ports,
  ).finally(renderer.end);
  // An interrupted sweep continues with what it has placed.
  if (!signal.aborted) await removeSweep(plan, cacheFolderAt(`${plan.projectFolder}/cache`), ports);
  return { report, interrupted: signal.aborted };
}

interface Shown {
  readonly merged: MergedPlans;
  readonly targets: SweepTargets;
  readonly options: SweepOptions;
  readonly console: Console;
}

/** Ranks the rows, and prints and writes them. */
async function show(
  { pipeline, axes, rows }: { readonly pipeline: string; readonly axes: readonly Axis[]; readonly rows: readonly SweepRow[] },
  { merged, targets, options, console }: Shown,
): Promise<ExitCode> {
  const diagnostics = makeDiagnosticList();
  const measured = {
    keys: new Set(rows.flatMap(({ figures }) => [...figures.keys()])),
    stages: targets.reported,
    hasSize: rows.some(({ sizeBytes }) => sizeBytes !== undefined),
    isAfter: (stage: StageId, others: ReadonlySet<StageId>) => isAfter(merged, stage, others),
  };
  const objectives = findObjectives(goalsOf(options), measured, diagnostics);
  const sweep: Sweep = { pipeline, axes, stages: targets.reported, objectives, rows: rankRows(rows, objectives) };
  printSweep(sweep, console);
  if (options.json) console.json(encodeSweep(sweep));
  try {
    await writeSweepOutputs(options.output, sweep);
  } catch (error) {
    return endWithError(error, console, { json: false }, EXIT.failed);
  }
  for (const path of options.output) console.line(`wrote ${path}`);
  if (!diagnostics.hasErrors()) return EXIT.built;
  return refuse(diagnostics.items, { ...options, json: false }, console);
}

/** Whether the stage depends on one of the others in some configuration. All ids are those of the pipeline. */
function isAfter({ plan, stages }: MergedPlans, stage: StageId, others: ReadonlySet<StageId>): boolean {
  return stages.some(ids => {
    const id = ids.get(stage);
    return id !== undefined && dependsOn(plan, id, new Set([...others].flatMap(other => ids.get(other) ?? [])));
  });
}

function goalsOf({ maximize, minimize }: SweepOptions): readonly Goal[] {
  return [
    ...maximize.map((metric): Goal => ({ metric, goal: 'maximize' })),
    ...minimize.map((metric): Goal => ({ metric, goal: 'minimize' })),
  ];
}
