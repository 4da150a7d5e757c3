/** A result that a frozen build would use: the locked outputs, in place or in the cache. */
import type { PinnedStage } from '../../action/pinned-stage.js';
import type { Session } from '../../action/session.js';
import { isResultOf } from '../../action/session.js';
import { lockedActions } from '../../lockfile/locked-actions.js';
import { type AllowedOutputs, findEqual, lockedResults } from '../../lockfile/locked-outputs.js';
import type { PlannedStage } from '../../model/plan.js';
import { findArtifacts } from '../../store/find-artifacts.js';
import { hasIntactArtifacts, isWhole, predict } from './find-result.js';
import { type Found, upToDate } from './stage-status.js';

/** What a frozen build would do to end with the locked outputs; undefined if it continues like any build. */
export async function findLocked(
  session: Session,
  stage: PlannedStage,
  forced: boolean,
  pinned: PinnedStage,
  allowed: AllowedOutputs,
): Promise<Found | undefined> {
  const accepted = session.state.stages.get(stage.id);
  const locked = forced ? [] : lockedResults(allowed);
  const isOurs = accepted !== undefined && lockedActions(pinned, allowed).some(action => isResultOf(accepted, action));
  if (isOurs && findEqual(locked, accepted.outputs) !== undefined && (await hasIntactArtifacts(session, stage, accepted)))
    return { ...upToDate, pinned };
  for (const contents of locked) {
    const artifacts = await findArtifacts(session.store, contents);
    if (artifacts === undefined || !(await isWhole(session, artifacts))) continue;
    const result = { key: pinned.key, outputs: predict(artifacts) };
    return { status: { kind: 'restorable', reasons: ['as locked'], changes: [] }, pinned, result };
  }
  if (allowed.kind !== 'exactly') return undefined;
  const reasons = [forced ? 'forced' : 'the locked result is not in the cache'];
  const outputs = Object.entries(allowed.outputs).map(([port, content]) => [port, { ...content, sizeBytes: 0 }] as const);
  // The run must give the locked outputs, or it fails.
  return {
    status: { kind: 'stale', reasons, changes: [], after: [] },
    pinned,
    result: { key: pinned.key, outputs: predict(Object.fromEntries(outputs)) },
  };
}
