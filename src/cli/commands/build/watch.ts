/**
 * `tanren watch`: builds, and builds again after every save.
 * File events only say when to look. Planning and building again determines what changed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from '../../../engine/build.js';
import type { StandbyWorkers } from '../../../engine/execute/standby/standby-workers.js';
import { type Diagnostic, formatDiagnostic } from '../../../engine/model/diagnostic.js';
import type { Plan, StageId } from '../../../engine/model/plan.js';
import type { BuildReport } from '../../../engine/model/report.js';
import { createRevisions, type Revision, type Revisions } from '../../../engine/model/revisions.js';
import type { FailedRuns } from '../../../engine/schedule/run-services.js';
import { createFileWatcher } from '../../../engine/watch/file-watcher.js';
import { type Hint, type Hints, makeHints } from '../../../engine/watch/hints.js';
import type { OpenPage } from '../../../web/open-page.js';
import { makeEnginePorts, offerStandby } from '../../pipeline/engine-ports.js';
import { load, type PipelineOptions, printDiagnostics, resolveTargets } from '../../pipeline/open-plan.js';
import { openStandby } from '../../pipeline/open-standby.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';
import { setBuildProcessFlags } from '../../process/build-process-flags.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnClosedOutput, abortOnSignals } from '../../process/interruption.js';
import { makeBuildRenderer } from '../../render/build-renderer.js';
import { type MetricsForm, printBuildReport } from '../../render/build-report.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { nameColumns } from '../../terminal/display-width.js';
import { KEYS_HINT, type Keys, listenToKeys } from './watch-keys.js';
import { createLook, type Look } from './watch-look.js';
import { buildSubset, SUBSET_IMAGES, type SubsetOrder } from './watch-subset.js';

export interface WatchCommandOptions extends PipelineOptions {
  readonly jobs?: number;
  /** Accepted, and the default. */
  readonly keepGoing: boolean;
  readonly stop: boolean;
  readonly poll: boolean;
  readonly ui: boolean;
  readonly metrics: MetricsForm;
  /** Images of the subset that is evaluated before all images; undefined: none is. */
  readonly subset?: number;
}

/** Long enough to receive the second event of one save. */
const QUIET_MS = 10;

/** From an event under artifacts/ to the check of what was built. */
const CHECK_AFTER_MS = 300;

/** The reason of the end by the key, which is no interruption. */
const QUIT = 'q';

interface Watch {
  readonly targets: readonly string[];
  readonly options: WatchCommandOptions;
  readonly console: Console;
  readonly hints: Hints;
  readonly signal: AbortSignal;
  readonly standby: StandbyWorkers;
  /** The plan, and the last round in which something ran; undefined while one runs. */
  last: { readonly plan: Plan; readonly report: BuildReport } | undefined;
  /** Images of the subset that is evaluated first; undefined: none is. */
  subset: number | undefined;
  readonly subsetFigures: SubsetOrder['before'];
  /** 'keys': the terminal sends keys. */
  hint: 'Ctrl-C ends' | typeof KEYS_HINT;
  readonly look: Look;
}

export async function runWatch(targets: readonly string[], options: WatchCommandOptions): Promise<ExitCode> {
  setBuildProcessFlags();
  const console = makeConsole({ json: false });
  if (await hasWrongTargets(targets, options, console)) return EXIT.usage;
  const quit = new AbortController();
  const signal = AbortSignal.any([abortOnSignals(), abortOnClosedOutput(), quit.signal]);
  const hints = makeHints((durationMs, until) => sleep(durationMs, undefined, { signal: until }).catch(() => undefined));
  const polls = (why: string): void => {
    const help = 'files are checked every second until watch is restarted';
    const warning: Diagnostic = { severity: 'warning', code: 'polling', message: why, span: undefined, help };
    console.problem('warning', formatDiagnostic(warning, new Map()));
  };
  const watcher = createFileWatcher({ hint: hints.hint, polls }, options.poll ? 'poll' : 'events');
  let keys: Keys | undefined;
  const page = options.ui ? await openPageOf(options, console) : undefined;
  const standby = openStandby(options);
  offerStandby(standby);
  try {
    const look = createLook(targets, options, console, watcher, signal);
    const subset = { subset: options.subset, subsetFigures: new Map() };
    const watch: Watch = { targets, options, console, hints, signal, standby, last: undefined, ...subset, hint: 'Ctrl-C ends', look };
    keys = listenToKeys({
      options,
      console,
      idle: () => watch.last,
      rebuild: () => hints.hint('input'),
      toggleSubset: () => toggleSubset(watch),
      end: () => quit.abort(QUIT),
    });
    if (keys !== undefined) watch.hint = KEYS_HINT;
    await runRounds(watch);
  } finally {
    keys?.close();
    standby.close();
    watcher.close();
    await page?.close();
  }
  return signal.reason === QUIT ? EXIT.built : EXIT.interrupted;
}

async function openPageOf(options: WatchCommandOptions, console: Console): Promise<OpenPage> {
  const { servePage } = await import('../ui/serve-page.js');
  return servePage(options, { access: 'full', token: 'keep', port: undefined }, console);
}

/** Unknown targets are an error in the arguments. A pipeline file that cannot be read yet is watched until it is fixed. */
async function hasWrongTargets(targets: readonly string[], options: WatchCommandOptions, console: Console): Promise<boolean> {
  if (targets.length === 0) return false;
  const loaded = await load(options, 'read-only');
  const { targets: resolved, diagnostics } = resolveTargets(loaded, targets);
  if (loaded.plan === undefined || resolved !== undefined) return false;
  printDiagnostics(diagnostics, loaded.sources, console);
  return true;
}

async function runRounds(watch: Watch): Promise<void> {
  const { hints, signal } = watch;
  let news: readonly Hint[] = ['input'];
  let good: readonly StageId[] = [];
  // An edit during the first subset comes before the first round.
  let next: 'first' | 'again' = 'first';
  while (!signal.aborted) {
    const revision = await watch.look();
    const failedRuns: FailedRuns = new Map();
    if (news.includes('input')) {
      if (revision === undefined) printReady(watch);
      // After an edit while the subset was evaluated, everything is looked at again.
      else if ((await runSubset(watch, revision, failedRuns)) === 'quiet') {
        good = goodStages((await runRound(watch, revision, next, failedRuns)).report);
        next = 'again';
      }
    } else if (revision !== undefined) {
      // Only stages that were built successfully before. None of them runs unless its files were changed.
      const targets = good.filter(stage => revision.plan.stages.has(stage));
      const checked = targets.length === 0 ? undefined : await runRound(watch, { plan: revision.plan, targets }, 'check');
      // What a check could not restore is tried again after the next event.
      if (checked?.followed === 'edited') good = goodStages(checked.report);
    }
    if ((await hints.wait(['input', 'output'], QUIET_MS, signal)) === 'aborted') return;
    news = hints.take(['input', 'output']);
    if (news.includes('input')) continue;
    // Most often our own. The page asks for the results of a build now, and an edit comes first.
    await hints.wait(['input'], QUIET_MS, AbortSignal.any([signal, AbortSignal.timeout(CHECK_AFTER_MS)]));
    news = [...news, ...hints.take(['input', 'output'])];
  }
}

function toggleSubset(watch: Watch): number | undefined {
  watch.subset = watch.subset === undefined ? (watch.options.subset ?? SUBSET_IMAGES) : undefined;
  return watch.subset;
}

/** Leaves the hint of the edit to the loop of rounds. */
async function abortAtEdit(hints: Hints, edited: AbortController, done: AbortSignal): Promise<void> {
  if ((await hints.wait(['input'], QUIET_MS, done)) === 'hinted') edited.abort();
}

/** Evaluates the first images, if the user wants it. An edit stops it. */
async function runSubset(watch: Watch, revision: Revision, failedRuns: FailedRuns): Promise<Followed> {
  const { subset: images, subsetFigures: before, options, console, hints, signal } = watch;
  if (images === undefined) return 'quiet';
  const { last } = watch;
  watch.last = undefined;
  const [done, edited] = [new AbortController(), new AbortController()];
  const following = abortAtEdit(hints, edited, AbortSignal.any([signal, done.signal]));
  try {
    await buildSubset({ revision, images, options, console, signal: AbortSignal.any([signal, edited.signal]), failedRuns, before });
  } finally {
    done.abort();
    await following;
    watch.last = last;
  }
  return edited.signal.aborted ? 'edited' : 'quiet';
}

interface Round {
  readonly report: BuildReport;
  readonly followed: Followed;
}

/** Whether inputs changed while a build ran. */
type Followed = 'edited' | 'quiet';

/**
 * Builds, and takes up edits that are saved meanwhile. Where a subset comes first, an edit stops a check instead: the round after it begins with the subset.
 * @param why 'check': after events under artifacts/, which are most often our own. If nothing is to do and nothing was edited, nothing is printed.
 */
async function runRound(
  watch: Watch,
  first: Revision,
  why: 'first' | 'again' | 'check',
  failedRuns: FailedRuns = new Map(),
): Promise<Round> {
  const { options, console, hints, signal } = watch;
  const before = watch.last;
  watch.last = undefined;
  const renderer = makeBuildRenderer(console, nameColumns(first.plan.stages.keys(), console.width()), 'list');
  const revisions = createRevisions(first);
  const [done, stopped] = [new AbortController(), new AbortController()];
  const building = build(
    first.plan,
    {
      targets: first.targets,
      asked: { targets: watch.targets, params: options.param },
      failures: options.stop ? 'stop' : 'keep-going',
      force: 'never',
      sharedCache: findSharedCache(options.cache),
      revisions,
      failedRuns,
      ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
    },
    makeEnginePorts(renderer.emit, AbortSignal.any([signal, stopped.signal])),
  ).finally(() => done.abort());
  const until = AbortSignal.any([signal, done.signal]);
  const stopsAtEdit = why === 'check' && watch.subset !== undefined;
  const following = stopsAtEdit ? abortAtEdit(hints, stopped, until) : followEdits(watch, revisions, until);
  const report = await building.finally(renderer.end);
  watch.standby.refillLater();
  const followed = (await following) ?? 'quiet';
  if (stopped.signal.aborted) {
    watch.last = before;
    return { report, followed };
  }
  if (revisions.hasNews()) hints.hint('input');
  const isNews = [...report.stages.values()].some(({ outcome }) => outcome.kind !== 'up-to-date');
  // A round without news does not take the place of the last one in which something ran.
  watch.last = { plan: revisions.taken().plan, report: isNews ? report : (before?.report ?? report) };
  // An edit that this build has not taken up is answered by the next round.
  const isAnswered = followed === 'edited' && !revisions.hasNews();
  if (isNews || isAnswered || why !== 'check') {
    const form = { of: why === 'first' ? 'all' : 'changed', metrics: options.metrics, warnings: renderer.warnings() } as const;
    printBuildReport(revisions.taken().plan, report, console, form);
    printReady(watch);
  }
  return { report, followed };
}

function printReady({ console, signal, hint }: Watch): void {
  if (!signal.aborted) console.line(console.style('dim', `watching; ${hint}`));
}

async function followEdits({ hints, look, console }: Watch, revisions: Revisions, done: AbortSignal): Promise<Followed> {
  let followed: Followed = 'quiet';
  while ((await hints.wait(['input'], QUIET_MS, done)) === 'hinted') {
    hints.take(['input']);
    followed = 'edited';
    const revision = await look();
    if (revision !== undefined) revisions.revise(revision);
    else if (!done.aborted) console.line(console.style('yellow', 'the running build continues with the previous pipeline'));
  }
  return followed;
}

function goodStages({ stages }: BuildReport): readonly StageId[] {
  return [...stages.values()].flatMap(({ stage, outcome }) =>
    outcome.kind === 'up-to-date' || outcome.kind === 'restored' || outcome.kind === 'executed' ? [stage] : [],
  );
}
