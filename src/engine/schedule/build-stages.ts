/** The scheduler: it builds each stage when all its inputs are ready, the most urgent first, as far as the pools allow. */
import { setMaxListeners } from 'node:events';
import PQueue from 'p-queue';
import { unlessAborted } from '../../base/on-abort.js';
import type { Session } from '../action/session.js';
import { measure } from '../execute/measure.js';
import { createPartService } from '../execute/parts/part-service.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import type { CheckResult } from '../model/check-result.js';
import { dependenciesOf } from '../model/dependencies.js';
import type { Outcome } from '../model/outcome.js';
import type { Outlook } from '../model/outlook.js';
import type { Plan, PlannedStage, StageId } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';
import { cancelled } from '../model/stage-end.js';
import { cpuUnits, poolUnits } from './cpu-units.js';
import { computePriority, computeUrgency } from './critical-path.js';
import { findNextStep, type NextStep } from './find-next-step.js';
import type { ResultRule } from './result-rule.js';
import type { RunServices } from './run-services.js';
import { joinRun } from './run-stage.js';
import { type BusyAction, isBusy, runUnderActionLock } from './run-under-action-lock.js';
import { endWithFailure, type StageNeeds } from './stage-needs.js';

export interface StagesToBuild {
  /** In topological order. */
  readonly selected: readonly PlannedStage[];
  readonly settled: ReadonlyMap<StageId, AcceptedStage>;
  readonly forced: ReadonlySet<StageId>;
  readonly jobs: number | undefined;
  readonly failures: 'stop' | 'keep-going';
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

/** Builds the stages that are not settled, and checks the stages to be checked. */
export async function buildStages(session: Session, order: StagesToBuild): Promise<StagesBuilt> {
  const { plan, ports } = session;
  const { services, superseded } = order;
  const cpu = cpuUnits(plan, order.jobs);
  services.setCapacity(poolUnits(plan, order.jobs));
  // Checks for existing results (digests, restores) need little processor time, so they do not wait for the slots of runs.
  const looks = new PQueue({ concurrency: 2 * cpu });
  // The listener limit is off, because every stage listens to these signals. Many listeners are no sign of a leak.
  setMaxListeners(0, ports.signal, superseded);
  const urgency = computeUrgency(order.selected, id => session.state.stages.get(id)?.durationMs ?? 1);
  const priority = computePriority(order.selected);
  const urgencyOf = (id: StageId): number => (priority.get(id) ?? 0) * PRIORITY_FIRST + (urgency.get(id) ?? 0);
  ports.emit({ kind: 'outlook', outlook: outlookOf(session, order) });
  const parts = createPartService({ ...session, platformClass: session.platformClass.get });
  // Runs from before the build switched to this plan.
  const carried = services.runs.stages();
  const told = new Set([...services.failures.values()].map(({ end }) => end));
  const ends = new Map<StageId, Promise<StageEnd>>();
  const finished = new Map<StageId, StageEnd>();
  let failed: StageId | undefined;

  const whyNot = (dependencies: readonly (readonly [StageId, StageEnd])[]): StageEnd | undefined => {
    if (ports.signal.aborted || superseded.aborted) return cancelled;
    const stopped = dependencies.find(([, end]) => end.accepted === undefined);
    if (stopped !== undefined) return { outcome: stoppedBy(...stopped), accepted: undefined };
    return failed !== undefined && order.failures === 'stop'
      ? { outcome: { kind: 'skipped', because: failed }, accepted: undefined }
      : undefined;
  };

  /** Returns a stage's end with the state's current result, because artifacts may have been restored since the stage ended. */
  const endOf = (id: StageId): StageEnd | undefined => {
    const end = finished.get(id);
    return end?.accepted === undefined ? end : { ...end, accepted: session.state.stages.get(id) ?? end.accepted };
  };

  const needsOf = (stage: PlannedStage): StageNeeds => ({
    session,
    stage,
    parts,
    warned: new Set(),
    services,
    superseded,
    forced: order.forced.has(stage.id),
    rule: order.rule,
    endOf,
  });

  const checkOne = async (stage: PlannedStage): Promise<CheckResult | undefined> => {
    const accepted = (await ends.get(stage.id))?.accepted;
    if (accepted === undefined) return undefined;
    const result = stage.determinism === 'measured' ? leaveOut(stage) : await checkInSlot(needsOf(stage), accepted, urgencyOf(stage.id));
    ports.emit({ kind: 'check', result });
    return result;
  };

  const stopReaders = (stage: StageId): void => {
    for (const run of carried) if (dependsOn(plan, run, stage)) void services.runs.stop(run, `${stage} runs again`);
  };

  const buildOne = async (stage: PlannedStage): Promise<StageEnd> => {
    const dependencies = await Promise.all(dependenciesOf(stage).map(async id => [id, await (ends.get(id) ?? cancelled)] as const));
    const early = whyNot(dependencies);
    if (early !== undefined) return early;
    const needs = needsOf(stage);
    const urgent = urgencyOf(stage.id);
    return endWithFailure(async () => {
      const findNext = async () => (superseded.aborted ? SUPERSEDED : measure(ports, stage.id, 'look', () => findNextStep(needs)));
      const next = await looks.add(findNext, { priority: urgent });
      if (next.kind === 'ended') return next.end;
      if (next.kind === 'join') {
        const joined = await joinRun(needs, next.run);
        if (joined !== undefined) return joined;
      }
      stopReaders(stage.id);
      return runInSlot(needs, urgent, { whyNot: () => whyNot(dependencies), onEnd: end => finish(stage.id, end) });
    });
  };

  /** Stops a run that still continues although its stage has ended in another way, because nothing needs its result. */
  const buildAndClear = async (stage: PlannedStage): Promise<StageEnd> => {
    const end = await buildOne(stage);
    if (!superseded.aborted) await services.runs.stop(stage.id, 'its result is no longer needed');
    return end;
  };

  const finish = (stage: StageId, end: StageEnd): StageEnd => {
    if (finished.has(stage)) return end;
    finished.set(stage, end);
    if (end.outcome.kind === 'failed') failed ??= stage;
    // The newer plan determines and reports the outcome.
    if (end.outcome.kind === 'cancelled' && superseded.aborted && !ports.signal.aborted) return end;
    if (!told.has(end)) ports.emit({ kind: 'outcome', stage, outcome: end.outcome });
    return end;
  };

  const selected = new Set(order.selected.map(stage => stage.id));
  for (const stage of carried) if (!selected.has(stage)) void services.runs.stop(stage, 'it is no longer built');
  for (const stage of order.selected) {
    const accepted = order.settled.get(stage.id);
    const end: Promise<StageEnd> =
      accepted === undefined ? buildAndClear(stage) : Promise.resolve({ outcome: { kind: 'up-to-date' }, accepted });
    ends.set(
      stage.id,
      end.then(done => finish(stage.id, done)),
    );
  }
  const checks = Promise.all(order.selected.filter(stage => order.checked.has(stage.id)).map(checkOne));
  const ended = new Map(await Promise.all([...ends].map(async ([id, end]) => [id, await end] as const)));
  return { ends: ended, checks: (await checks).filter(check => check !== undefined) };
}

const SUPERSEDED: NextStep = { kind: 'ended', end: cancelled };

/** Runs the stage in a slot. Everything is checked again just before the run, because the wait in the queue may have been long. */
async function runInSlot(
  needs: StageNeeds,
  urgency: number,
  { whyNot, onEnd }: { whyNot(): StageEnd | undefined; onEnd(end: StageEnd): void },
): Promise<StageEnd> {
  const { session, stage } = needs;
  const { slots, runs } = needs.services;
  const { ports } = session;
  const units = { cpu: 1, ...stage.resources };
  for (;;) {
    let begun = false;
    const readyMs = performance.now();
    const end = new Promise<StageEnd | BusyAction>((resolve, reject) => {
      const job = async (): Promise<void> => {
        begun = true;
        if (!needs.superseded.aborted)
          ports.emit({ kind: 'span', stage: stage.id, what: 'wait', startMs: readyMs, endMs: performance.now() });
        let releaseAction: () => Promise<void> = () => Promise.resolve();
        const work = async (): Promise<StageEnd | BusyAction> =>
          whyNot() ??
          runUnderActionLock(needs, release => {
            releaseAction = release;
          });
        const end = await measure(ports, stage.id, 'slot', () => endWithFailure(work));
        // The end is announced before the slot is free: stages that wait for the slot must know of a failure, and they start after this stage has ended.
        if (!isBusy(end)) onEnd(end);
        resolve(end);
        // A run that continues without its build keeps its slot.
        await runs.whenEnded(stage.id);
        await releaseAction();
      };
      slots.add(job, { urgency, units }).catch(reject);
    });
    const first = await unlessAborted(end, needs.superseded);
    const ended = first !== 'aborted' ? first : begun ? await end : cancelled;
    if (!isBusy(ended)) return ended;
    ports.emit({ kind: 'waiting-for-run', stage: stage.id, where: ended.where });
    const wait = ended.over().catch((error: unknown) => {
      if (!ports.signal.aborted) throw error;
    });
    if ((await unlessAborted(wait, needs.superseded)) === 'aborted') return cancelled;
  }
}

/** Checks run after all stages that wait to be built, because nothing depends on a check. */
async function checkInSlot(needs: StageNeeds, accepted: AcceptedStage, urgency: number): Promise<CheckResult> {
  const { checkStage } = await import('./check-stage.js');
  const { session, stage } = needs;
  const run = async (): Promise<CheckResult> =>
    session.ports.signal.aborted ? { verdict: 'cancelled', stage: stage.id } : checkStage(needs, accepted);
  return needs.services.slots.add(run, { urgency: urgency - CHECKS_LAST, units: { cpu: 1, ...stage.resources } });
}

/** Larger than the duration of any build in milliseconds, so that priority outranks urgency. */
const PRIORITY_FIRST = 1e12;

/** Larger than any priority times PRIORITY_FIRST, so that checks come last. */
const CHECKS_LAST = 1e16;

function leaveOut({ id }: PlannedStage): CheckResult {
  return { verdict: 'measured', stage: id };
}

/** Returns the stages that are not settled, with the durations of their last runs. */
function outlookOf({ plan, state }: Session, { selected, settled, jobs }: StagesToBuild): Outlook {
  const tasks = selected
    .filter(({ id }) => !settled.has(id))
    .map(stage => ({
      stage: stage.id,
      dependsOn: dependenciesOf(stage),
      units: { cpu: 1, ...stage.resources },
      expectedMs: state.stages.get(stage.id)?.durationMs,
    }));
  return { tasks, capacity: poolUnits(plan, jobs) };
}

function stoppedBy(dependency: StageId, end: StageEnd): Outcome {
  if (end.outcome.kind === 'cancelled') return { kind: 'cancelled' };
  return { kind: 'skipped', because: end.outcome.kind === 'skipped' ? end.outcome.because : dependency };
}

/** Whether `reader` depends on `stage`, directly or indirectly. */
function dependsOn(plan: Plan, reader: StageId, stage: StageId): boolean {
  const seen = new Set<StageId>();
  const queue = [reader];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const planned = plan.stages.get(next);
    for (const id of planned === undefined || seen.has(next) ? [] : dependenciesOf(planned)) {
      if (id === stage) return true;
      queue.push(id);
    }
    seen.add(next);
  }
  return false;
}
