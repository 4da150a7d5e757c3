/** Is the lock file right? Where nothing was accepted and nobody has touched it since a build wrote it, one look at it says so. */
import { type Digest, digestBytes } from '../../base/digest.js';
import type { Plan, PlannedStage } from '../model/plan.js';
import { lookAt } from '../store/files/stamp.js';
import type { WrittenLock } from '../store/state-log.js';
import type { LockFile } from './lock-path.js';

/** For the stages of a build: where it wrote the lock for all of them, or for the whole plan. */
export function isProven(written: WrittenLock | undefined, { path }: LockFile, plan: Plan, selected: readonly PlannedStage[]): boolean {
  if (written === undefined || lookAt(path)?.stamp !== written.stamp) return false;
  return written.stages === proofOf(plan, selected) || written.stages === proofOf(plan, [...plan.stages.values()]);
}

/** Of everything in the plan that the lock says and that no accepted result tells: which stages there are, whether they are all, and what they read by name. */
export function proofOf(plan: Plan, selected: readonly PlannedStage[]): Digest {
  const stages = selected.map(({ id, determinism, inputs }) => [id, determinism, inputs]);
  return digestBytes(JSON.stringify([selected.length === plan.stages.size ? 'whole' : 'part', stages]));
}
