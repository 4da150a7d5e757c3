/** A result that a build would use instead of a run: in place or in the cache. */
import type { PinnedStage } from '../../action/pinned-stage.js';
import type { Session } from '../../action/session.js';
import { compareWithLast, placeOf } from '../../action/session.js';
import type { AcceptedStage } from '../../model/accepted-stage.js';
import type { Artifacts } from '../../model/artifact.js';
import type { KnownResult } from '../../model/known-result.js';
import type { PlannedStage } from '../../model/plan.js';
import type { ActionResult } from '../../store/action-records.js';
import { decodeTree } from '../../store/files/tree.js';
import { haveStatedSizes } from '../../store/find-artifacts.js';
import { findTouched, resign } from '../../store/published.js';
import { ONLY_CACHED } from './only-cached.js';
import { type Found, upToDate } from './stage-status.js';

/** What a build would do with a stage whose inputs are all known. */
export async function findResult(session: Session, stage: PlannedStage, forced: boolean, pinned: PinnedStage): Promise<Found> {
  const { changes, reasons } = await compareWithLast(session, stage, pinned.manifest);
  if (forced) return { status: { kind: 'stale', reasons: ['forced'], changes, after: [] }, pinned };
  const accepted = session.state.stages.get(stage.id);
  const isSame = accepted?.key === pinned.key;
  if (isSame && (await hasIntactArtifacts(session, stage, accepted))) return { ...upToDate, pinned };
  const kept = [...(isSame ? [accepted.outputs] : []), ...(await resultsOf(session, pinned.key)).map(result => result.outputs)];
  for (const artifacts of kept) {
    if (!(await isWhole(session, artifacts))) continue;
    const because = accepted === undefined ? [ONLY_CACHED] : reasons;
    return { status: { kind: 'restorable', reasons: because, changes }, pinned, result: { key: pinned.key, outputs: predict(artifacts) } };
  }
  return { status: { kind: 'stale', reasons, changes, after: [] }, pinned };
}

/** Whether the accepted artifacts are still in place. */
export async function hasIntactArtifacts(session: Session, stage: PlannedStage, accepted: AcceptedStage): Promise<boolean> {
  const { folder, names } = placeOf(session.plan, stage);
  if (findTouched(folder, accepted, names) === undefined) return true;
  return (await resign(folder, accepted, names)) !== undefined;
}

async function resultsOf({ records }: Session, key: string): Promise<readonly ActionResult[]> {
  const record = await records.find(key);
  return record === undefined || record === 'damaged' ? [] : [...record.results].reverse();
}

/** Whether the store has every blob of the artifacts. */
export async function isWhole({ store }: Session, artifacts: Artifacts): Promise<boolean> {
  if (!(await haveStatedSizes(store, artifacts))) return false;
  for (const { kind, digest } of Object.values(artifacts)) {
    if ((await store.check(digest)) !== 'found') return false;
    const tree = kind === 'tree' ? decodeTree((await store.read(digest))?.toString() ?? '') : [];
    if (tree === undefined) return false;
    for (const entry of tree) if (entry.kind === 'file' && (await store.check(entry.digest)) !== 'found') return false;
  }
  return true;
}

/** The outputs as results of a later build, not published yet. */
export function predict(artifacts: Artifacts): KnownResult['outputs'] {
  return Object.fromEntries(Object.entries(artifacts).map(([port, artifact]) => [port, { ...artifact, signature: '' }]));
}
