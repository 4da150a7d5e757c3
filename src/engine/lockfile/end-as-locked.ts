/** Ends a stage with its locked output without running it: from artifacts/, from an action record, or from the store by digest. */

import type { PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import { mayShare } from '../execute/may-share.js';
import { acceptInPlace, restoreResult } from '../execute/restore-result.js';
import { type MetricsFile, readMetrics } from '../execute/stage-metrics.js';
import type { Artifact, Contents } from '../model/artifact.js';
import type { PlannedStage } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';
import type { ResultRule } from '../schedule/result-rule.js';
import type { BlobStore } from '../store/blob-store.js';
import { findArtifacts } from '../store/find-artifacts.js';
import { lockedActions, pinLocked } from './locked-actions.js';
import { type AllowedOutputs, assertAllowed, findEqual, type LockedOutputs, lockedResults } from './locked-outputs.js';

/** The rule by which a frozen build ends stages with their locked outputs. */
export function ruleOf(lockedOutputs: LockedOutputs): ResultRule {
  return {
    assertAction: (stage, manifest) => void lockedOutputs.of(stage, manifest),
    async find(session, stage, pinned) {
      const allowed = lockedOutputs.of(stage, pinned.manifest);
      if (allowed.kind === 'gates-alone') return { kind: 'open' };
      const end = await endAsLocked(session, stage, pinned, allowed);
      if (end !== undefined) return { kind: 'ended', end };
      return allowed.kind === 'exactly' ? { kind: 'must-run', reasons: ['the locked result is not in the cache'] } : { kind: 'open' };
    },
    assertOutputs: (stage, manifest, outputs) => assertAllowed(lockedOutputs.of(stage, manifest), outputs),
  };
}

/** Undefined if the stage has to run. */
async function endAsLocked(
  session: Session,
  stage: PlannedStage,
  pinned: PinnedStage,
  allowed: AllowedOutputs,
): Promise<StageEnd | undefined> {
  const locked = lockedResults(allowed);
  const actions = lockedActions(pinned, allowed);
  const accepted = session.state.stages.get(stage.id);
  if (accepted !== undefined && findEqual(locked, accepted.outputs) !== undefined) {
    for (const action of actions) {
      const end = await acceptInPlace(session, stage, action);
      if (end !== undefined) return end;
    }
  }
  for (const action of actions) {
    const end = await restoreRecorded(session, stage, action, locked);
    if (end !== undefined) return end;
  }
  for (const action of mayShare(stage) && session.remote !== undefined ? actions : []) {
    if ((await session.remote?.bring(stage.id, action.key)) === undefined) continue;
    const end = await restoreRecorded(session, stage, action, locked);
    if (end?.outcome.kind === 'restored') return { ...end, outcome: { ...end.outcome, from: 'remote' } };
  }
  for (const contents of locked) {
    const end = await restoreByDigest(session, stage, pinned, contents);
    if (end !== undefined) return end;
  }
  return undefined;
}

async function restoreRecorded(
  session: Session,
  stage: PlannedStage,
  action: PinnedStage,
  locked: readonly Contents[],
): Promise<StageEnd | undefined> {
  const record = await session.records.find(action.key);
  for (const result of record === undefined || record === 'damaged' ? [] : record.results) {
    if (findEqual(locked, result.outputs) === undefined || (await findArtifacts(session.store, result.outputs)) === undefined) continue;
    const end = await restoreResult(session, stage, action, result);
    if (end === undefined) continue;
    await session.records.noteUse(action.key);
    return end;
  }
  return undefined;
}

/**
 * Only the lock file says that this action gives these bytes; no run on this machine has confirmed it. The result is therefore accepted
 * for frozen builds only, and not recorded.
 */
async function restoreByDigest(
  session: Session,
  stage: PlannedStage,
  pinned: PinnedStage,
  contents: Contents,
): Promise<StageEnd | undefined> {
  const outputs = await findArtifacts(session.store, contents);
  if (outputs === undefined) return undefined;
  const metrics = await readMetrics(stage, port => readOutput(session.store, outputs[port]));
  const durationMs = session.state.stages.get(stage.id)?.durationMs ?? 0;
  return restoreResult(session, stage, pinLocked(pinned), { outputs, metrics, log: undefined, durationMs });
}

function readOutput(store: BlobStore, artifact: Artifact | undefined): MetricsFile | undefined {
  return artifact === undefined ? undefined : { artifact, read: async () => (await store.read(artifact.digest))?.toString() };
}
