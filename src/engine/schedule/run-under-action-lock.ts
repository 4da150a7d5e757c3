/** A stage's path to its result when another stage or checkout may be running the same action: check, take the action lock, check again, and run. */
import type { StageEnd } from '../model/stage-end.js';
import type { ActionLock } from '../store/lock/action-locks.js';
import { findNextStep, type NextStep } from './find-next-step.js';
import { joinRun, type LeftInputs, runStage } from './run-stage.js';
import type { StageNeeds } from './stage-needs.js';

/** Another stage or checkout runs the action. */
export type BusyAction = Extract<ActionLock, { readonly kind: 'other' }>;

export function isBusy(end: StageEnd | BusyAction | LeftInputs): end is BusyAction {
  return 'over' in end;
}

export function lacksInputs(end: StageEnd | BusyAction | LeftInputs): end is LeftInputs {
  return 'kind' in end && end.kind === 'inputs-left';
}

/** @param onLocked receives the function that releases the lock. It must be called when the run has ended, which may be after this function returns. */
export async function runUnderActionLock(
  needs: StageNeeds,
  onLocked: (end: () => Promise<void>) => void,
): Promise<StageEnd | BusyAction | LeftInputs> {
  const next = await findNextStep(needs);
  if (next.kind !== 'run' || needs.forced) return follow(needs, next);
  const lock = await needs.services.actionLocks.take(next.pinned.key);
  if (lock.kind === 'other') return lock;
  onLocked(lock.end);
  return follow(needs, lock.kind === 'first' ? await findNextStep(needs) : next);
}

async function follow(needs: StageNeeds, next: NextStep): Promise<StageEnd | LeftInputs> {
  if (next.kind === 'ended') return next.end;
  if (next.kind === 'run') return runStage(needs, next.pinned, next.reasons);
  return (await joinRun(needs, next.run)) ?? runStage(needs, next.run.pinned, []);
}
