/** In which order, and how many at a time, are stages built? Each when all that it reads is there, the most urgent first. */
import type { AcceptedStage } from '../cache/state-log.js';
import type { CheckResult } from '../check/check-result.js';
import type { Outcome } from '../outcome.js';
import { dependenciesOf } from '../plan/dependencies.js';
import type { PlannedStage, StageId } from '../plan/plan.js';
import type { StageNeeds } from './build-stage.js';
import { approach, endWithFailure, runStage } from './build-stage.js';
import { cpuUnits } from './cpu-units.js';
import { computeUrgency } from './critical-path.js';
import { measure } from './measure.js';
import { createPartService } from './part-service.js';
import { createReaper } from './reaper.js';
import type { Session } from './session.js';
import type { StageEnd } from './stage-end.js';
import { cancelled } from './stage-end.js';
import type { StageQueue } from './stage-queue.js';
import { createStageQueue } from './stage-queue.js';

export interface StagesToBuild {
  /** In topological order. */
  readonly selected: readonly PlannedStage[];
  readonly settled: ReadonlyMap<StageId, AcceptedStage>;
  readonly forced: ReadonlySet<StageId>;
  readonly jobs: number | undefined;
  readonly failures: 'stop' | 'keep-going';
  /** Stages that run once more when they have ended well, to compare the results. */
  readonly checked: ReadonlySet<StageId>;
}

export interface StagesBuilt {
  /** An end for every selected stage. */
  readonly ends: ReadonlyMap<StageId, StageEnd>;
  /** Of every checked stage that has a result. */
  readonly checks: readonly CheckResult[];
}

/** Builds what is not settled, and checks what is to be checked. */
export async function buildStages(session: Session, order: StagesToBuild): Promise<StagesBuilt> {
  const { plan, ports } = session;
  const cpu = cpuUnits(plan, order.jobs);
  const slots = createStageQueue({ ...plan.pools, cpu });
  // Looking (digests, restores) takes little of a processor: it does not wait for the slots of runs.
  const looks = createStageQueue({ look: 2 * cpu });
  const urgency = computeUrgency(order.selected, id => session.state.stages.get(id)?.durationMs ?? 1);
  const parts = createPartService({ ...session, platformClass: session.platformClass.get });
  const reaper = createReaper();
  const ends = new Map<StageId, Promise<StageEnd>>();
  const finished = new Map<StageId, StageEnd>();
  let failed: StageId | undefined;

  const whyNot = (dependencies: readonly (readonly [StageId, StageEnd])[]): StageEnd | undefined => {
    if (ports.signal.aborted) return cancelled;
    const stopped = dependencies.find(([, end]) => end.accepted === undefined);
    if (stopped !== undefined) return { outcome: stoppedBy(...stopped), accepted: undefined };
    return failed !== undefined && order.failures === 'stop'
      ? { outcome: { kind: 'skipped', because: failed }, accepted: undefined }
      : undefined;
  };

  const needsOf = (stage: PlannedStage): StageNeeds => ({
    session,
    stage,
    parts,
    reaper,
    forced: order.forced.has(stage.id),
    endOf: id => finished.get(id),
  });

  const checkOne = async (stage: PlannedStage): Promise<CheckResult | undefined> => {
    const accepted = (await ends.get(stage.id))?.accepted;
    if (accepted === undefined) return undefined;
    const result =
      stage.determinism === 'measured' ? leaveOut(stage) : await checkInSlot(slots, needsOf(stage), accepted, urgency.get(stage.id) ?? 0);
    ports.emit({ kind: 'check', result });
    return result;
  };

  const buildOne = async (stage: PlannedStage): Promise<StageEnd> => {
    const dependencies = await Promise.all(dependenciesOf(stage).map(async id => [id, await (ends.get(id) ?? cancelled)] as const));
    const early = whyNot(dependencies);
    if (early !== undefined) return early;
    const needs = needsOf(stage);
    const urgent = urgency.get(stage.id) ?? 0;
    return endWithFailure(async () => {
      const look = await looks.add(() => measure(ports, stage.id, 'look', () => approach(needs)), { urgency: urgent, units: { look: 1 } });
      if (look.kind === 'ended') return look.end;
      return runInSlot(slots, needs, urgent, { whyNot: () => whyNot(dependencies), onEnd: end => finish(stage.id, end) });
    });
  };

  const finish = (stage: StageId, end: StageEnd): StageEnd => {
    if (finished.has(stage)) return end;
    finished.set(stage, end);
    if (end.outcome.kind === 'failed') failed ??= stage;
    ports.emit({ kind: 'outcome', stage, outcome: end.outcome });
    return end;
  };

  for (const stage of order.selected) {
    const accepted = order.settled.get(stage.id);
    const end: Promise<StageEnd> =
      accepted === undefined ? buildOne(stage) : Promise.resolve({ outcome: { kind: 'up-to-date' }, accepted });
    ends.set(
      stage.id,
      end.then(done => finish(stage.id, done)),
    );
  }
  try {
    const checks = Promise.all(order.selected.filter(stage => order.checked.has(stage.id)).map(checkOne));
    const ended = new Map(await Promise.all([...ends].map(async ([id, end]) => [id, await end] as const)));
    return { ends: ended, checks: (await checks).filter(check => check !== undefined) };
  } finally {
    reaper.close();
  }
}

/** Time may have passed in the queue: everything is looked at again just before the run. */
async function runInSlot(
  slots: StageQueue,
  needs: StageNeeds,
  urgency: number,
  { whyNot, onEnd }: { whyNot(): StageEnd | undefined; onEnd(end: StageEnd): void },
): Promise<StageEnd> {
  const { session, stage } = needs;
  const units = { cpu: 1, ...stage.resources };
  const readyMs = performance.now();
  return slots.add(
    async () => {
      session.ports.emit({ kind: 'span', stage: stage.id, what: 'wait', startMs: readyMs, endMs: performance.now() });
      const late = whyNot();
      if (late !== undefined) return late;
      const work = async (): Promise<StageEnd> => {
        const look = await approach(needs);
        return look.kind === 'ended' ? look.end : runStage(needs, look.pinned, look.reasons);
      };
      const end = await measure(session.ports, stage.id, 'slot', () => endWithFailure(work));
      // While the slot is still taken: what waits for it must know of a failure, and starts after this has ended.
      onEnd(end);
      return end;
    },
    { urgency, units },
  );
}

/** After everything that waits to be built: nothing waits for a check. */
async function checkInSlot(slots: StageQueue, needs: StageNeeds, accepted: AcceptedStage, urgency: number): Promise<CheckResult> {
  const { checkStage } = await import('../check/check-stage.js');
  const { session, stage } = needs;
  const run = async (): Promise<CheckResult> =>
    session.ports.signal.aborted ? { verdict: 'cancelled', stage: stage.id } : checkStage(needs, accepted);
  return slots.add(run, { urgency: urgency - CHECKS_LAST, units: { cpu: 1, ...stage.resources } });
}

/** More than any build takes, in milliseconds. */
const CHECKS_LAST = 1e12;

function leaveOut({ id }: PlannedStage): CheckResult {
  return { verdict: 'measured', stage: id };
}

function stoppedBy(dependency: StageId, end: StageEnd): Outcome {
  if (end.outcome.kind === 'cancelled') return { kind: 'cancelled' };
  return { kind: 'skipped', because: end.outcome.kind === 'skipped' ? end.outcome.because : dependency };
}
