/** Runs and checks of stages in the slots of their pools. */
import { unlessAborted } from '../../base/on-abort.js';
import { measure } from '../execute/measure.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import type { CheckResult } from '../model/check-result.js';
import type { StageEnd } from '../model/stage-end.js';
import { cancelled } from '../model/stage-end.js';
import type { LeftInputs } from './run-stage.js';
import { type BusyAction, isBusy, lacksInputs, runUnderActionLock } from './run-under-action-lock.js';
import { unitsHere, unitsOf } from './slot-units.js';
import { endWithFailure, type StageNeeds } from './stage-needs.js';

/** Larger than any urgency of a stage, so that checks come last. */
const CHECKS_LAST = 1e16;

/** Runs the stage in a slot. Everything is checked again just before the run, because the wait in the queue may have been long. */
export async function runInSlot(
  planned: StageNeeds,
  urgency: number,
  { whyNot, onEnd }: { whyNot(): StageEnd | undefined; onEnd(end: StageEnd): void },
): Promise<StageEnd> {
  let needs = planned;
  const { session, stage } = needs;
  const { slots, runs } = needs.services;
  const { ports } = session;
  for (;;) {
    const units = needs.place === 'here' ? unitsHere(stage) : unitsOf(stage, needs.services);
    let begun = false;
    const readyMs = performance.now();
    const end = new Promise<StageEnd | BusyAction | LeftInputs>((resolve, reject) => {
      const job = async (): Promise<void> => {
        begun = true;
        if (!needs.superseded.aborted)
          ports.emit({ kind: 'span', stage: stage.id, what: 'wait', startMs: readyMs, endMs: performance.now() });
        let releaseAction: () => Promise<void> = () => Promise.resolve();
        const work = async (): Promise<StageEnd | BusyAction | LeftInputs> =>
          whyNot() ??
          runUnderActionLock({ ...needs, held: units }, release => {
            releaseAction = release;
          });
        const end = await measure(ports, stage.id, 'slot', () => endWithFailure(work));
        // The end is announced before the slot is free: stages that wait for the slot must know of a failure, and they start after this stage has ended.
        if (!isBusy(end) && !lacksInputs(end)) onEnd(end);
        resolve(end);
        // A run that continues without its build keeps its slot.
        await runs.whenEnded(stage.id);
        await releaseAction();
      };
      slots.add(job, { urgency, units }).catch(reject);
    });
    const first = await unlessAborted(end, needs.superseded);
    const ended = first !== 'aborted' ? first : begun ? await end : cancelled;
    if (lacksInputs(ended)) {
      needs = { ...needs, place: ended.next };
      const blocked = await needs.bringInputs();
      if (blocked === undefined) continue;
      onEnd(blocked);
      return blocked;
    }
    if (!isBusy(ended)) return ended;
    ports.emit({ kind: 'waiting-for-run', stage: stage.id, where: ended.where });
    const wait = ended.over().catch((error: unknown) => {
      if (!ports.signal.aborted) throw error;
    });
    if ((await unlessAborted(wait, needs.superseded)) === 'aborted') return cancelled;
  }
}

/** Checks run after all stages that wait to be built, because nothing depends on a check. */
export async function checkInSlot(needs: StageNeeds, accepted: AcceptedStage, urgency: number): Promise<CheckResult> {
  const { checkStage } = await import('./check-stage.js');
  const { session, stage } = needs;
  const run = async (): Promise<CheckResult> =>
    session.ports.signal.aborted ? { verdict: 'cancelled', stage: stage.id } : checkStage(needs, accepted);
  return needs.services.slots.add(run, { urgency: urgency - CHECKS_LAST, units: unitsHere(stage) });
}
