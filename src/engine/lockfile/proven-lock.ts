/** Proves by its stamp that the lock file is correct: no result was accepted and nobody changed the file since a build wrote it. */
import { type Digest, digestBytes } from '../../base/digest.js';
import type { Plan, PlannedStage } from '../model/plan.js';
import { statPath } from '../store/files/stamp.js';
import type { WrittenLock } from '../store/state.js';
import type { LockFile } from './lock-path.js';

/** Whether the build that wrote the lock file covered exactly these stages, or the whole plan. */
export function isProven(written: WrittenLock | undefined, { path }: LockFile, plan: Plan, selected: readonly PlannedStage[]): boolean {
  if (written === undefined || statPath(path)?.stamp !== written.stamp) return false;
  return written.stages === proofOf(plan, selected) || written.stages === proofOf(plan, [...plan.stages.values()]);
}

/**
 * Digest of what the lock file takes from the plan and accepted results do not show: the stages, whether they are all, and what their
 * inputs refer to.
 */
export function proofOf(plan: Plan, selected: readonly PlannedStage[]): Digest {
  const stages = selected.map(({ id, determinism, inputs }) => [id, determinism, inputs]);
  return digestBytes(JSON.stringify([selected.length === plan.stages.size ? 'whole' : 'part', stages]));
}
