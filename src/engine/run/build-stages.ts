/** In which order, and how many at a time, are stages built? Each when all that it reads is there, the most urgent first. */
import { availableParallelism } from 'node:os';
import type { AcceptedStage } from '../cache/state-log.js';
import type { Outcome } from '../outcome.js';
import { dependenciesOf } from '../plan/dependencies.js';
import type { PlannedStage, StageId } from '../plan/plan.js';
import type { StageNeeds } from './build-stage.js';
import { approach, endWithFailure, runStage } from './build-stage.js';
import { computeUrgency } from './critical-path.js';
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
}

/** Builds what is not settled. @returns an end for every selected stage. */
export async function buildStages(session: Session, order: StagesToBuild): Promise<ReadonlyMap<StageId, StageEnd>> {
  const { plan, ports } = session;
  const cpu = order.jobs ?? plan.pools.cpu ?? availableParallelism();
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

  const buildOne = async (stage: PlannedStage): Promise<StageEnd> => {
    const dependencies = await Promise.all(dependenciesOf(stage).map(async id => [id, await (ends.get(id) ?? cancelled)] as const));
    const early = whyNot(dependencies);
    if (early !== undefined) return early;
    const needs: StageNeeds = { session, stage, parts, reaper, forced: order.forced.has(stage.id), endOf: id => finished.get(id) };
    const urgent = urgency.get(stage.id) ?? 0;
    return endWithFailure(async () => {
      const look = await looks.add(() => approach(needs), { urgency: urgent, units: { look: 1 } });
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
    return new Map(await Promise.all([...ends].map(async ([id, end]) => [id, await end] as const)));
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
  const units = { cpu: 1, ...needs.stage.resources };
  return slots.add(
    async () => {
      const late = whyNot();
      if (late !== undefined) return late;
      const end = await endWithFailure(async () => {
        const look = await approach(needs);
        return look.kind === 'ended' ? look.end : runStage(needs, look.pinned, look.reasons);
      });
      // While the slot is still taken: what waits for it must know of a failure, and starts after this has ended.
      onEnd(end);
      return end;
    },
    { urgency, units },
  );
}

function stoppedBy(dependency: StageId, end: StageEnd): Outcome {
  if (end.outcome.kind === 'cancelled') return { kind: 'cancelled' };
  return { kind: 'skipped', because: end.outcome.kind === 'skipped' ? end.outcome.because : dependency };
}
