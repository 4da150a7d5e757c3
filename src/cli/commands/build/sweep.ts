/** `tanren sweep`: builds the pipeline with every combination of values, and compares the results. */
import { makeDiagnosticList } from '../../../engine/model/diagnostic.js';
import type { Plan, StageId } from '../../../engine/model/plan.js';
import { combine, countConfigurations, MAX_CONFIGURATIONS } from '../../../engine/sweep/configurations.js';
import { type MergedPlans, mergePlans } from '../../../engine/sweep/merge-plans.js';
import { findObjectives, type Goal } from '../../../engine/sweep/objectives.js';
import { findBadValues, type PlannedSweep, planSweep } from '../../../engine/sweep/plan-sweep.js';
import { rankRows } from '../../../engine/sweep/rank.js';
import type { Axis } from '../../../engine/sweep/resolve-axis.js';
import type { SweepRow } from '../../../engine/sweep/sweep-rows.js';
import { chooseTargets, type SweepTargets } from '../../../engine/sweep/sweep-targets.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { refuseArguments } from '../../pipeline/refuse-arguments.js';
import { readAxes } from '../../pipeline/sweep-axes.js';
import { setBuildProcessFlags } from '../../process/build-process-flags.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { exitCodeOf } from '../../render/build-report.js';
import { encodeSweep } from '../../render/sweep/encode-sweep.js';
import { checkSweepOutput, writeSweepOutputs } from '../../render/sweep/sweep-files.js';
import { printSweep, type Sweep } from '../../render/sweep/sweep-report.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { buildConfigurations, loaderOf, measuredBy } from './build-configurations.js';

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
  if (diagnostics.hasErrors()) return refuseArguments(diagnostics.items, options, console);
  const sweep = await planSweep(combine(axes), loaderOf(options));
  const bad = findBadValues(axes, sweep);
  if (bad.length > 0) return refuseArguments(bad, options, console);
  return buildSweep(targets, { base: opened.plan, axes, sweep }, options, console);
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
    return refuseArguments(
      [{ severity: 'error', code: 'nothing-to-sweep', message, span: undefined, help: 'name the stages to build' }],
      options,
      console,
    );
  }
  setBuildProcessFlags();
  const signal = abortOnSignals();
  const { report, rows } = await buildConfigurations(sweep, { merged, targets }, options, { console, signal });
  const ended = await show({ pipeline: base.pipeline, axes, rows }, { merged, targets, options, console });
  if (signal.aborted || report.conclusion === 'cancelled') return EXIT.interrupted;
  if (report.conclusion === 'failed') return exitCodeOf(report);
  return sweep.refused.length > 0 ? EXIT.failed : ended;
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
  const measured = measuredBy(rows, merged, targets.reported);
  const objectives = findObjectives(goalsOf(options), measured, diagnostics);
  const sweep: Sweep = { pipeline, axes, objectives, rows: rankRows(rows, objectives) };
  printSweep(sweep, console);
  if (options.json) console.json(encodeSweep(sweep));
  try {
    await writeSweepOutputs(options.output, sweep);
  } catch (error) {
    return endWithError(error, console, { json: false }, EXIT.failed);
  }
  for (const path of options.output) console.line(`wrote ${path}`);
  if (!diagnostics.hasErrors()) return EXIT.built;
  return refuseArguments(diagnostics.items, { ...options, json: false }, console, 'after-build');
}

function goalsOf({ maximize, minimize }: SweepOptions): readonly Goal[] {
  return [
    ...maximize.map((metric): Goal => ({ metric, goal: 'maximize' })),
    ...minimize.map((metric): Goal => ({ metric, goal: 'minimize' })),
  ];
}
