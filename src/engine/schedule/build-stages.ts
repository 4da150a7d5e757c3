/** The scheduler: it builds each stage when all its inputs are ready, the most urgent first, as far as the pools allow. */
import { setMaxListeners } from 'node:events';
import PQueue from 'p-queue';
import type { Session } from '../action/session.js';
import { measure } from '../execute/measure.js';
import { createPartService, type PartService } from '../execute/parts/part-service.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import type { CheckResult } from '../model/check-result.js';
import { dependenciesOf, dependsOn } from '../model/dependencies.js';
import type { Outcome } from '../model/outcome.js';
import type { Plan, PlannedStage, StageId } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';
import { cancelled } from '../model/stage-end.js';
import { cpuUnits, poolUnits } from './cpu-units.js';
import { computePriority, computeUrgency } from './critical-path.js';
import { findNextStep, type NextStep } from './find-next-step.js';
import { createBringer, isLeft } from './left-remote.js';
import { mayLeave } from './may-stay-remote.js';
import { outlookOf } from './outlook-of.js';
import type { ResultRule } from './result-rule.js';
import { checkInSlot, runInSlot } from './run-in-slot.js';
import { hasPartialResults, removePartial, runPartial } from './run-partial.js';
import type { RunServices } from './run-services.js';
import { joinRun } from './run-stage.js';
import { runsOnWorker } from './slot-units.js';
import { endWithFailure, type StageNeeds } from './stage-needs.js';

export interface StagesToBuild {
  /** In topological order. */
  readonly selected: readonly PlannedStage[];
  readonly settled: ReadonlyMap<StageId, AcceptedStage>;
  readonly forced: ReadonlySet<StageId>;
  readonly jobs: number | undefined;
  readonly failures: 'stop' | 'keep-going';
  readonly targets: ReadonlySet<StageId>;
  /** Stages that run a second time after they succeeded, to compare the results. */
  readonly checked: ReadonlySet<StageId>;
  /** Defined only in a frozen build. */
  readonly rule: ResultRule | undefined;
  readonly services: RunServices;
  /** Aborted when there is a newer plan. Nothing more is started then, and runs continue without this build of the older plan. */
  readonly superseded: AbortSignal;
}

export interface StagesBuilt {
  /** An end for every selected stage. */
  readonly ends: ReadonlyMap<StageId, StageEnd>;
  /** A check result for every checked stage that has a result. */
  readonly checks: readonly CheckResult[];
}

/** What one call of `buildStages` knows, and how far it is. */
interface StagesBuild {
  readonly session: Session;
  readonly order: StagesToBuild;
  readonly parts: PartService;
  /** Checks for existing results (digests, restores). They need little processor time, so they do not wait for the slots of runs. */
  readonly lookups: PQueue;
  /** The stage with the highest figure starts first. */
  readonly urgency: (stage: StageId) => number;
  /** Runs from before the build switched to this plan. */
  readonly carried: readonly StageId[];
  /** Ends that were reported before the build switched to this plan. */
  readonly reported: ReadonlySet<StageEnd>;
  readonly ends: Map<StageId, Promise<StageEnd>>;
  readonly finished: Map<StageId, StageEnd>;
  /** Brings what a stage reads and what stayed in the remote cache. @returns a stage that could not be brought. */
  readonly bringInputs: (stage: StageId) => Promise<StageId | undefined>;
  /** The first stage that failed. */
  failed: StageId | undefined;
}

/** With keep-going, stages that describe the build and were skipped show what there is. A result replaces what an earlier build showed. */
async function addPartialResults(build: StagesBuild, ends: Map<StageId, StageEnd>): Promise<void> {
  const { selected, failures, rule, superseded } = build.order;
  for (const stage of selected.filter(hasPartialResults)) {
    if (build.session.ports.signal.aborted || superseded.aborted) return;
    const end = ends.get(stage.id);
    const needs = needsOf(build, stage);
    if (end?.outcome.kind === 'skipped' && failures === 'keep-going' && rule === undefined)
      ends.set(stage.id, { ...end, partial: await runPartial(needs) });
    else if (end?.outcome.kind === 'executed' || end?.outcome.kind === 'restored') await removePartial(needs);
  }
}

/** Builds the stages that are not settled, and checks the stages to be checked. */
export async function buildStages(session: Session, order: StagesToBuild): Promise<StagesBuilt> {
  const { plan, ports } = session;
  const { selected, services, settled } = order;
  services.setCapacity(poolUnits(plan, order.jobs, services.remote?.jobs));
  // The listener limit is off, because every stage listens to these signals. Many listeners are no sign of a leak.
  setMaxListeners(0, ports.signal, order.superseded);
  ports.emit({ kind: 'outlook', outlook: outlookOf(session, order) });
  const build = beginBuild(session, order);
  session.remote?.hold(order.checked);
  const ids = new Set(selected.map(stage => stage.id));
  for (const stage of build.carried) if (!ids.has(stage)) void services.runs.stop(stage, 'it is no longer built');
  for (const stage of selected) {
    const accepted = settled.get(stage.id);
    const end: Promise<StageEnd> =
      accepted === undefined ? buildAndClear(build, stage) : Promise.resolve({ outcome: { kind: 'up-to-date' }, accepted });
    build.ends.set(
      stage.id,
      end.then(done => finish(build, stage.id, done)),
    );
  }
  const checks = Promise.all(selected.filter(stage => order.checked.has(stage.id)).map(stage => checkOne(build, stage)));
  const ended = new Map(await Promise.all([...build.ends].map(async ([id, end]) => [id, await end] as const)));
  // A result that stayed in the remote cache may have been brought, or made again, since the stage ended.
  for (const [id, end] of ended) if (isLeft(end)) ended.set(id, build.finished.get(id) ?? end);
  await addPartialResults(build, ended);
  return { ends: ended, checks: (await checks).filter(check => check !== undefined) };
}

function beginBuild(session: Session, order: StagesToBuild): StagesBuild {
  const { runs, failures, unreported } = order.services;
  const urgency = computeUrgency(order.selected, id => session.state.stages.get(id)?.durationMs ?? 1);
  const priority = computePriority(order.selected);
  const build: StagesBuild = {
    bringInputs: createBringer({
      endOf: id => endOf(build, id),
      dependenciesOf: id => dependenciesIn(session.plan, id),
      needsOf: stage => needsOf(build, stage),
      runAgain: stage =>
        runInSlot({ ...needsOf(build, stage), leaves: false }, build.urgency(stage.id), {
          whyNot: () => stoppedAlready(build),
          onEnd: () => undefined,
        }),
      settle: (id, end) => replaceEnd(build, id, end),
    }),
    session,
    order,
    parts: createPartService({ ...session, platformClass: session.platformClass.get }),
    lookups: new PQueue({ concurrency: session.remote === undefined ? 2 * cpuUnits(session.plan, order.jobs) : REMOTE_LOOKUPS }),
    urgency: id => (priority.get(id) ?? 0) * PRIORITY_FIRST + (urgency.get(id) ?? 0),
    carried: runs.stages(),
    reported: new Set([...failures.values()].map(({ end }) => end).filter(end => !unreported.has(end))),
    ends: new Map(),
    finished: new Map(),
    failed: undefined,
  };
  return build;
}

function dependenciesIn({ stages }: Plan, id: StageId): readonly PlannedStage[] {
  const stage = stages.get(id);
  return stage === undefined ? [] : dependenciesOf(stage).flatMap(before => stages.get(before) ?? []);
}

function stoppedAlready({ session, order }: StagesBuild): StageEnd | undefined {
  return session.ports.signal.aborted || order.superseded.aborted ? cancelled : undefined;
}

/** Replaces the end of a stage whose result stayed remote. It is reported again if the stage had to run. */
function replaceEnd(build: StagesBuild, stage: StageId, end: StageEnd): void {
  const before = build.finished.get(stage)?.outcome;
  build.finished.set(stage, end);
  if (end.outcome.kind === 'failed') build.failed ??= stage;
  if (before?.kind === 'executed' && end.outcome.kind === 'executed' && before.durationMs === end.outcome.durationMs) return;
  build.session.ports.emit({ kind: 'outcome', stage, outcome: end.outcome });
}

/** Stops a run that still continues although its stage has ended in another way, because nothing needs its result. */
async function buildAndClear(build: StagesBuild, stage: PlannedStage): Promise<StageEnd> {
  const { services, superseded } = build.order;
  const end = await buildOne(build, stage);
  if (!superseded.aborted) await services.runs.stop(stage.id, 'its result is no longer needed');
  return end;
}

async function buildOne(build: StagesBuild, stage: PlannedStage): Promise<StageEnd> {
  const { session, order, ends, lookups } = build;
  const { services } = order;
  const dependencies = await Promise.all(dependenciesOf(stage).map(async id => [id, await (ends.get(id) ?? cancelled)] as const));
  const early = whyNot(build, dependencies);
  if (early !== undefined) return early;
  const needs = needsOf(build, stage);
  const urgency = build.urgency(stage.id);
  return endWithFailure(async () => {
    const findNext = async () =>
      order.superseded.aborted ? SUPERSEDED : measure(session.ports, stage.id, 'look', () => findNextStep(needs));
    const next = await lookups.add(findNext, { priority: urgency });
    if (next.kind === 'ended') return next.end;
    if (next.kind === 'join') {
      const joined = await joinRun(needs, next.run);
      if (joined !== undefined) return joined;
    }
    stopReaders(build, stage.id);
    // A worker reads its inputs on the server.
    const blocked = runsOnWorker(stage, services) ? undefined : await needs.bringInputs();
    if (blocked !== undefined) return blocked;
    return runInSlot(needs, urgency, { whyNot: () => whyNot(build, dependencies), onEnd: end => finish(build, stage.id, end) });
  });
}

/** Returns the end of a stage that must not start; undefined if it may. */
function whyNot({ session, order, failed }: StagesBuild, dependencies: readonly (readonly [StageId, StageEnd])[]): StageEnd | undefined {
  if (session.ports.signal.aborted || order.superseded.aborted) return cancelled;
  const stopped = dependencies.find(([, end]) => end.accepted === undefined);
  if (stopped !== undefined) return { outcome: stoppedBy(...stopped), accepted: undefined };
  return failed !== undefined && order.failures === 'stop'
    ? { outcome: { kind: 'skipped', because: failed }, accepted: undefined }
    : undefined;
}

function needsOf(build: StagesBuild, stage: PlannedStage): StageNeeds {
  const { session, parts, order } = build;
  const { services, superseded, rule } = order;
  return {
    session,
    stage,
    parts,
    warned: new Set(),
    services,
    superseded,
    forced: order.forced.has(stage.id),
    rule,
    leaves: mayLeave(session, order, stage),
    place: 'as-planned',
    held: {},
    async bringInputs() {
      const blocker = await build.bringInputs(stage.id);
      return blocker === undefined ? undefined : { outcome: stoppedBy(blocker, endOf(build, blocker) ?? cancelled), accepted: undefined };
    },
    endOf: id => endOf(build, id),
  };
}

/** Returns a stage's end with the state's current result, because artifacts may have been restored since the stage ended. */
function endOf({ session, finished }: StagesBuild, id: StageId): StageEnd | undefined {
  const end = finished.get(id);
  return end?.accepted === undefined ? end : { ...end, accepted: session.state.stages.get(id) ?? end.accepted };
}

/** Stops the runs that depend on the stage, because it runs again. */
function stopReaders({ session, order, carried }: StagesBuild, stage: StageId): void {
  for (const run of carried) if (dependsOn(session.plan, run, stage)) void order.services.runs.stop(run, `${stage} runs again`);
}

/** Records and reports the end of a stage. The first end counts. */
function finish(build: StagesBuild, stage: StageId, end: StageEnd): StageEnd {
  const { finished, order, reported } = build;
  const { ports } = build.session;
  if (finished.has(stage)) return end;
  finished.set(stage, end);
  if (end.outcome.kind === 'failed') build.failed ??= stage;
  // The newer plan determines and reports the outcome.
  if (end.outcome.kind === 'cancelled' && order.superseded.aborted && !ports.signal.aborted) return end;
  if (!reported.has(end)) ports.emit({ kind: 'outcome', stage, outcome: end.outcome });
  order.services.unreported.delete(end);
  return end;
}

async function checkOne(build: StagesBuild, stage: PlannedStage): Promise<CheckResult | undefined> {
  const accepted = (await build.ends.get(stage.id))?.accepted;
  if (accepted === undefined) return undefined;
  const result: CheckResult =
    stage.determinism === 'measured'
      ? { verdict: 'measured', stage: stage.id }
      : await checkInSlot(needsOf(build, stage), accepted, build.urgency(stage.id));
  build.session.remote?.release(stage.id, result.verdict === 'same' ? 'send' : 'drop');
  build.session.ports.emit({ kind: 'check', result });
  return result;
}

/** Lookups at once with a remote cache: they wait for its answers most of the time. */
const REMOTE_LOOKUPS = 128;

const SUPERSEDED: NextStep = { kind: 'ended', end: cancelled };

/** Larger than the duration of any build in milliseconds, so that priority outranks urgency. */
const PRIORITY_FIRST = 1e12;

function stoppedBy(dependency: StageId, end: StageEnd): Outcome {
  if (end.outcome.kind === 'cancelled') return { kind: 'cancelled' };
  return { kind: 'skipped', because: end.outcome.kind === 'skipped' ? end.outcome.because : dependency };
}
