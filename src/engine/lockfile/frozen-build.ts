/** The start of a frozen build: stages that are already as locked, and the check that everything else matches the lock file. */

import type { Proof, Session } from '../action/session.js';
import { findSettled, isResultOf } from '../action/session.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import { assertLocked, findRemovedStages, openFrozen } from './check-frozen.js';
import type { LockFile } from './lock-path.js';
import { lockedActions } from './locked-actions.js';
import type { LockedOutputs } from './locked-outputs.js';
import { findEqual, lockedResults } from './locked-outputs.js';
import { findPortability } from './portability.js';

export interface SettledAsLocked {
  readonly settled: ReadonlyMap<StageId, AcceptedStage>;
  readonly lockedOutputs: LockedOutputs;
}

/** Undefined if any stage needs a full check. @throws LockRefused if the lock file cannot be used. */
export async function findSettledAsLocked(
  session: Session,
  file: LockFile,
  selected: readonly PlannedStage[],
  forced: ReadonlySet<StageId>,
): Promise<SettledAsLocked | undefined> {
  const frozen = openFrozen(session, file, session.platformClass.find() ?? '');
  const settled = findSettled(session, selected, forced, undefined, provesLocked(frozen.lockedOutputs));
  const isAll = settled.size === selected.length && findRemovedStages(session, frozen, selected).length === 0;
  return isAll ? { settled, lockedOutputs: frozen.lockedOutputs } : undefined;
}

/**
 * The locked results that constrain the stages. A build calls it while holding the lock of the cache, so that digests of sources are kept.
 * @throws LockRefused on any difference.
 */
export async function openLockedOutputs(session: Session, file: LockFile, selected: readonly PlannedStage[]): Promise<LockedOutputs> {
  const portability = findPortability(session.plan);
  const needsClass = selected.some(({ id }) => portability.get(id) === 'per-class');
  const frozen = openFrozen(session, file, needsClass ? await session.platformClass.get() : '');
  await assertLocked(session, frozen, selected);
  return frozen.lockedOutputs;
}

/** Whether an accepted result is the locked output of this action, or one that is constrained only by gates. */
export function provesLocked(lockedOutputs: LockedOutputs): Proof {
  return (accepted, pinned, stage) => {
    const allowed = lockedOutputs.of(stage, pinned.manifest);
    if (!lockedActions(pinned, allowed).some(action => isResultOf(accepted, action))) return false;
    return allowed.kind === 'gates-alone' || findEqual(lockedResults(allowed), accepted.outputs) !== undefined;
  };
}
