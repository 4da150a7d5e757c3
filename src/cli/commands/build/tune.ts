/** `tanren tune`: searches settings of a pipeline for the best figure that holds gates, within a time. */
import { parseDuration } from '../../../engine/config/scalars.js';
import { makeDiagnosticList } from '../../../engine/model/diagnostic.js';
import type { Plan, StageId } from '../../../engine/model/plan.js';
import type { Configuration } from '../../../engine/sweep/configurations.js';
import { mergePlans } from '../../../engine/sweep/merge-plans.js';
import type { Goal } from '../../../engine/sweep/objectives.js';
import { planSweep } from '../../../engine/sweep/plan-sweep.js';
import { type Axis, resolveAxes } from '../../../engine/sweep/resolve-axis.js';
import { isBuilt, type SweepRow } from '../../../engine/sweep/sweep-rows.js';
import type { SweepTargets } from '../../../engine/sweep/sweep-targets.js';
import { isBetterRow, parseTuneGate, resolveTuneGoal, type TuneGate, type TuneGoal, violationOf } from '../../../engine/sweep/tune-goal.js';
import { searchConfigurations, type Trial } from '../../../engine/sweep/tune-search.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { refuseArguments } from '../../pipeline/refuse-arguments.js';
import { readAxes } from '../../pipeline/sweep-axes.js';
import { findTuneAxes } from '../../pipeline/tune-axes.js';
import { setBuildProcessFlags } from '../../process/build-process-flags.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { describeTrial, encodeTuneResult, printTuneResult } from '../../render/sweep/tune-report.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { buildConfigurations, loaderOf, measuredBy } from './build-configurations.js';

export interface TuneOptions extends PipelineOptions {
  readonly vary: readonly string[];
  readonly gate: readonly string[];
  readonly maximize?: string;
  readonly minimize?: string;
  readonly budget?: string;
  readonly jobs?: number;
  readonly json: boolean;
}

interface Request {
  readonly base: Plan;
  readonly targets: 'all' | readonly StageId[];
  readonly axes: readonly Axis[];
  readonly gates: readonly TuneGate[];
  readonly goal: Goal;
  readonly budgetMs: number | undefined;
}

export async function runTune(targets: readonly string[], options: TuneOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const diagnostics = makeDiagnosticList();
  const axes =
    options.vary.length > 0
      ? readAxes(options, opened.plan, diagnostics)
      : resolveAxes(findTuneAxes(options.file, opened.plan), opened.plan, diagnostics);
  if (axes.length === 0 && !diagnostics.hasErrors())
    diagnostics.error('bad-axis', undefined, 'no stage has settings that `tune` varies by itself', 'name some with -m NAME=VALUE,VALUE');
  const gates = options.gate.flatMap(text => parseTuneGate(text, diagnostics) ?? []);
  const goal = goalOf(options, diagnostics.error);
  const budgetMs = options.budget === undefined ? undefined : parseDuration(options.budget);
  if (options.budget !== undefined && !budgetMs)
    diagnostics.error('bad-duration', undefined, `--budget ${options.budget}: expected a number and a unit, such as 90s or 10m`);
  if (diagnostics.hasErrors() || goal === undefined) return refuseArguments(diagnostics.items, options, console);
  return tune({ base: opened.plan, targets: targets.length === 0 ? 'all' : opened.targets, axes, gates, goal, budgetMs }, options, console);
}

function goalOf({ maximize, minimize }: TuneOptions, report: ReturnType<typeof makeDiagnosticList>['error']): Goal | undefined {
  if (minimize !== undefined && maximize === undefined) return { metric: minimize, goal: 'minimize' };
  if (maximize !== undefined && minimize === undefined) return { metric: maximize, goal: 'maximize' };
  report('bad-objective', undefined, 'tune needs one of --minimize METRIC and --maximize METRIC', 'for example --minimize estimatedMs');
  return undefined;
}

async function tune(request: Request, options: TuneOptions, console: Console): Promise<ExitCode> {
  const { base, axes, gates, goal, budgetMs } = request;
  setBuildProcessFlags();
  const interrupted = abortOnSignals();
  const budget = budgetMs === undefined ? undefined : AbortSignal.timeout(budgetMs);
  const signal = AbortSignal.any([interrupted, ...(budget === undefined ? [] : [budget])]);
  const diagnostics = makeDiagnosticList();
  const builder = makeBuilder(request, options, { console, signal });
  const trials: Trial[] = [];
  let resolved: TuneGoal | undefined;
  const best = await searchConfigurations({
    axes,
    async build(configurations) {
      const rows = await builder.build(configurations);
      if (resolved === undefined) {
        // A metric can be missing only in what was built to its end.
        const built = rows.filter(row => (signal.aborted ? isBuilt(row) : row.figures.size > 0));
        if (built.length > 0) resolved = resolveTuneGoal({ gates, goal }, builder.measured(built), diagnostics);
      }
      return rows;
    },
    isBetter: (one, other) => resolved !== undefined && isBetterRow(resolved, one, other),
    isOver: () => signal.aborted || diagnostics.hasErrors(),
    onTrials(found, best) {
      trials.push(...found.filter(({ row }) => row.status !== 'interrupted'));
      if (resolved === undefined) return;
      const isNew = best !== undefined && found.includes(best);
      for (const trial of found) if (trial.row.status !== 'interrupted') console.line(`tried ${describeTrial(axes, resolved, trial)}`);
      if (isNew) console.line(console.style('bold', `best so far: ${describeTrial(axes, resolved, best)}`));
    },
  });
  if (diagnostics.hasErrors()) return refuseArguments(diagnostics.items, options, console, 'after-build');
  const found = resolved === undefined ? undefined : best;
  const result = { pipeline: base.pipeline, axes, goal: resolved ?? asNamed(gates, goal), trials, best: found };
  printTuneResult(result, endOf(interrupted, budget), console);
  if (options.json) console.json(encodeTuneResult(result));
  if (interrupted.aborted) return EXIT.interrupted;
  return found !== undefined && violationOf(result.goal, found.row) === 0 ? EXIT.built : EXIT.failed;
}

/** Where nothing was built that has the metrics, they are called as the user calls them. */
function asNamed(gates: readonly TuneGate[], goal: Goal): TuneGoal {
  return { gates: gates.map(gate => ({ ...gate, key: gate.metric })), objective: { ...goal, key: goal.metric } };
}

function endOf(interrupted: AbortSignal, budget: AbortSignal | undefined): string {
  const next = 'the same command goes on from here';
  if (interrupted.aborted) return `interrupted: ${next}`;
  return budget?.aborted === true ? `the time is over: ${next}, with more time` : 'every combination was tried';
}

/** Builds all stages with metrics that do not measure time, or the targets of the user. */
function makeBuilder({ base, targets }: Request, options: TuneOptions, how: { readonly console: Console; readonly signal: AbortSignal }) {
  const load = loaderOf(options);
  const isWanted = (plan: Plan, id: StageId): boolean => {
    const stage = plan.stages.get(id);
    if (stage === undefined || !Object.values(stage.outputPorts).some(({ kind }) => kind === 'metrics')) return false;
    return targets === 'all' ? stage.determinism !== 'measured' : targets.includes(id);
  };
  let last: Parameters<typeof measuredBy>[1] | undefined;
  let reported: readonly StageId[] = [];
  return {
    async build(configurations: readonly Configuration[]): Promise<readonly SweepRow[]> {
      const sweep = await planSweep(configurations, load);
      const plans = sweep.planned.map(({ plan }) => plan);
      const merged = mergePlans(base, plans);
      const wanted = plans.map(plan => [...plan.stages.keys()].filter(id => isWanted(plan, id)));
      const build = wanted.flatMap((ids, index) => ids.flatMap(id => merged.stages[index]?.get(id) ?? []));
      const chosen: SweepTargets = { build: [...new Set(build)], reported: [...new Set(wanted.flat())] };
      [last, reported] = [merged, chosen.reported];
      const { rows } = await buildConfigurations(sweep, { merged, targets: chosen }, options, { ...how, lines: 'progress' });
      const byNumber = new Map(rows.map(row => [row.configuration.number, row]));
      return configurations.flatMap(({ number }) => byNumber.get(number) ?? []);
    },
    measured: (rows: readonly SweepRow[]) => measuredBy(rows, last ?? mergePlans(base, []), reported),
  };
}
