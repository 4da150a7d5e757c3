/** Figures on the first images before those on all, in `tanren watch`: built beside the pipeline, and marked as a subset wherever they are printed. */
import { examineStages } from '../../../engine/insight/status/status.js';
import { selectStages } from '../../../engine/model/dependencies.js';
import type { Plan, PlannedStage, StageId } from '../../../engine/model/plan.js';
import type { Revision } from '../../../engine/model/revisions.js';
import type { FailedRuns } from '../../../engine/schedule/run-services.js';
import { mergePlans } from '../../../engine/sweep/merge-plans.js';
import { subsetName } from '../../../engine/sweep/sweep-names.js';
import type { SweepRow } from '../../../engine/sweep/sweep-rows.js';
import { chooseTargets } from '../../../engine/sweep/sweep-targets.js';
import { withCheckedParams } from '../../../stage/define-stage.js';
import { makeEnginePorts } from '../../pipeline/engine-ports.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';
import { formatHeadline } from '../../render/headline-report.js';
import type { Console } from '../../terminal/console.js';
import { padEnd, widest } from '../../terminal/display-width.js';
import { wrapBehind } from '../../terminal/wrap-text.js';
import { type BuildOptions, buildConfigurations, loaderOf } from './build-configurations.js';

/** Images of a subset where the user names no number. */
export const SUBSET_IMAGES = 32;

/** Plugins that evaluate on the first `samples` images of a data set. */
const EVALUATIONS = ['evaluate', 'evaluate-classes', 'evaluate-segmentation'];

export interface SubsetOrder {
  readonly revision: Revision;
  readonly images: number;
  readonly options: BuildOptions;
  readonly console: Console;
  /** Aborted by an edit, or at the end of the watch. */
  readonly signal: AbortSignal;
  /** Gets the failures: the round that follows does not run them again. */
  readonly failedRuns: FailedRuns;
  /** The figures of the subset before, which are replaced. */
  readonly before: Map<StageId, SweepRow['figures']>;
}

/**
 * Evaluates the stages that would run on their first images alone, and prints the figures. Does nothing if no evaluation would run, or if none has more
 * images by its own `samples`. An evaluation whose data set has fewer images fails, and says so; the whole evaluation follows.
 */
export async function buildSubset({ revision, images, options, console, signal, failedRuns, before }: SubsetOrder): Promise<void> {
  const stages = await findEvaluations(revision, images, options, signal);
  const [first] = stages;
  if (first === undefined) return;
  const { plan, diagnostics } = await loaderOf(options)({
    number: 1,
    values: [],
    assignments: [],
    settings: settingsOf(revision.plan, images),
  });
  if (plan === undefined) {
    const [error] = diagnostics.filter(({ severity }) => severity === 'error');
    console.line(`no subset of ${images} images: ${error?.message ?? 'the pipeline cannot be planned'}`);
    return;
  }
  const ids = stages.map(({ id }) => id);
  console.line(`${console.style('bold', `subset of ${images} images first:`)} ${ids.join(', ')}`);
  const ungated: Plan = { ...plan, stages: new Map([...plan.stages].map(([id, stage]) => [id, { ...stage, gate: [] }])) };
  const merged = mergePlans(revision.plan, [ungated], subsetName(revision.plan.pipeline));
  const targets = chooseTargets([ungated], merged, [ids]);
  // Its number and values are those of a sweep without axes.
  const configuration = { number: 1, values: [], assignments: [], settings: [] };
  const sweep = { planned: [{ configuration, plan: ungated }], refused: [] };
  const { rows } = await buildConfigurations(sweep, { merged, targets }, options, {
    console,
    signal,
    lines: 'progress',
    remove: 'always',
    failedRuns,
  });
  const [row] = rows;
  if (row === undefined || signal.aborted) return;
  printSubset(stages, row, images, before, console);
}

/** The evaluations that a build would run, on more images than the subset has. */
async function findEvaluations(
  { plan, targets }: Revision,
  images: number,
  options: BuildOptions,
  signal: AbortSignal,
): Promise<readonly PlannedStage[]> {
  const found = selectStages(plan, targets).filter(stage => hasMoreImages(stage, images));
  if (found.length === 0) return [];
  const order = { targets: found.map(({ id }) => id), force: 'never', sharedCache: findSharedCache(options.cache) } as const;
  const examined = await examineStages(
    plan,
    order,
    makeEnginePorts(() => undefined, signal),
  );
  return found.filter(({ id }) => ['stale', 'undecided'].includes(examined.get(id)?.status.kind ?? ''));
}

function hasMoreImages({ plugin, params }: PlannedStage, images: number): boolean {
  const { samples } = params;
  return EVALUATIONS.includes(plugin.name) && (typeof samples !== 'number' || samples > images);
}

/** Of every evaluation, as one compares its figures with those of another. */
function settingsOf(plan: Plan, images: number) {
  return [...plan.stages.values()]
    .filter(stage => hasMoreImages(stage, images))
    .map(({ id }) => ({ target: id, path: ['samples'], value: images }));
}

function printSubset(
  stages: readonly PlannedStage[],
  { figures, problems }: Pick<SweepRow, 'figures' | 'problems'>,
  images: number,
  before: SubsetOrder['before'],
  console: Console,
): void {
  const width = widest(stages.map(({ id }) => id));
  console.line('');
  console.line(console.style('yellow', `subset: the first ${images} images; these figures enter no gate, lock file or history`));
  for (const stage of stages) {
    const flat = ofStage(figures, stage.id);
    const previous = ofStage(before.get(stage.id) ?? new Map(), stage.id);
    const texts = headlinesOf(stage).flatMap(headline => {
      const text = formatHeadline({ flat, previous }, headline);
      return text === '' ? [] : [`${headline.label} ${text}`];
    });
    const text = texts.length === 0 ? `no figures: ${describeProblem(stage.id, problems)}` : texts.join(', ');
    for (const line of wrapBehind(`  ${padEnd(stage.id, width)}`, text, console.width())) console.line(line);
    if (texts.length > 0) before.set(stage.id, figures);
  }
  console.line('');
}

/** What stopped an evaluation: its own problem, or a stage before it. */
export function describeProblem(id: StageId, problems: SweepRow['problems']): string {
  const message = problems.find(({ stage }) => stage === id)?.message.split('\n')[0];
  return message ?? `${problems.find(({ stage }) => stage !== undefined)?.stage ?? 'a stage'} has failed`;
}

function headlinesOf({ plugin, params }: PlannedStage) {
  const { headlines = [] } = withCheckedParams(plugin.plugin);
  return typeof headlines === 'function' ? headlines(params) : headlines;
}

/** The metrics of one stage. */
function ofStage(figures: SweepRow['figures'], id: StageId): SweepRow['figures'] {
  const start = `${id}.`;
  return new Map([...figures].flatMap(([name, figure]) => (name.startsWith(start) ? [[name.slice(start.length), figure]] : [])));
}
