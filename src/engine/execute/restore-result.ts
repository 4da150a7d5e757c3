/** Restoring of a known result under artifacts/: from the verified content of the store, or in place if it is still there. */
import { rm } from 'node:fs/promises';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import { placeOf } from '../action/session.js';
import type { AcceptedStage, Published } from '../model/accepted-stage.js';
import type { BlobRef } from '../model/artifact.js';
import { differingPorts } from '../model/artifact.js';
import type { WarningCode } from '../model/events.js';
import type { PlannedStage } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';
import type { ActionResult } from '../store/action-records.js';
import { writeWhole } from '../store/files/write-file.js';
import { haveStatedSizes } from '../store/find-artifacts.js';
import { contentOf } from '../store/publish.js';
import { findTouched, resign } from '../store/published.js';
import { measure } from './measure.js';
import { publishStage, warnOfForeign } from './publish-stage.js';
import { accept } from './store-result.js';

/** Gets the warnings of a stage. */
type Warn = (code: WarningCode, message: string) => void;

/** Emits every warning. */
function emitWarnings({ ports }: Session, { id }: PlannedStage): Warn {
  return (code, message) => ports.emit({ kind: 'warning', stage: id, code, message });
}

/** Returns the accepted result if it belongs to this action and is still in place or can be restored; otherwise undefined. */
export async function acceptInPlace(
  session: Session,
  stage: PlannedStage,
  pinned: PinnedStage,
  warn = emitWarnings(session, stage),
): Promise<StageEnd | undefined> {
  const accepted = session.state.stages.get(stage.id);
  if (accepted?.key !== pinned.key) return undefined;
  const { folder, names } = placeOf(session.plan, stage);
  const touched = findTouched(folder, accepted, names);
  if (touched === undefined) {
    // A killed build did not come to replace them.
    if (session.state.replacing.has(stage.id)) session.writer?.acceptStage(stage.id, accepted);
    return { outcome: { kind: 'up-to-date' }, accepted };
  }
  const signed = await resign(folder, accepted, names);
  if (signed !== undefined) {
    warnOfForeign(session, stage, signed.foreign);
    return { outcome: { kind: 'up-to-date' }, accepted: accept(session, stage, pinned, { ...accepted, ...pick(signed) }) };
  }
  // A killed build may have replaced them itself.
  if (!touched.endsWith('missing') && !session.state.replacing.has(stage.id)) {
    warn('artifact-edited', `${touched} in ${folder} since it was published; it is replaced`);
  }
  const { outputs, metrics, durationMs } = accepted;
  const log = await findLog(session, pinned.key, outputs);
  return restoreResult(session, stage, pinned, { outputs: plainArtifacts(outputs), metrics, log, durationMs }, warn);
}

/** Returns undefined if the store does not have the whole result. A warning is emitted, and nothing has changed. */
export async function restoreResult(
  session: Session,
  stage: PlannedStage,
  pinned: PinnedStage,
  result: ActionResult,
  warn = emitWarnings(session, stage),
): Promise<StageEnd | undefined> {
  const before = session.state.stages.get(stage.id);
  const { folder, names } = placeOf(session.plan, stage);
  const isInPlace =
    before !== undefined && differingPorts(before.outputs, result.outputs).length === 0 && findTouched(folder, before, names) === undefined;
  const fetch = async () =>
    (await haveStatedSizes(session.store, result.outputs))
      ? publishStage(session, stage, result.outputs, contentOf(session.store, session.ports.artifacts ?? 'copies'))
      : undefined;
  const published = isInPlace ? before : await measure(session.ports, stage.id, 'restore', fetch);
  if (published === undefined) {
    warn('cache-damaged', `a cached result of ${stage.id} is damaged or incomplete in the cache; it is not used`);
    return undefined;
  }
  await restoreLog(session, stage, result);
  const accepted = accept(session, stage, pinned, { ...pick(published), metrics: result.metrics, durationMs: result.durationMs });
  const sizeBytes = isInPlace ? 0 : Object.values(result.outputs).reduce((sum, artifact) => sum + artifact.sizeBytes, 0);
  return { outcome: { kind: 'restored', sizeBytes }, accepted, previousMetrics: before?.metrics };
}

/**
 * Restores the log of the run that made the result, for `tanren log`.
 * If that run wrote no log, the log is removed, because it would be from a later run that failed.
 */
async function restoreLog(session: Session, stage: PlannedStage, { log }: ActionResult): Promise<void> {
  const path = session.cache.log(session.plan.pipeline, stage.id);
  const bytes = log === undefined ? undefined : await session.store.read(log.digest);
  if (bytes !== undefined) await writeWhole(path, bytes, 'no-flush').catch(() => undefined);
  else if (log === undefined) await rm(path, { force: true }).catch(() => undefined);
}

async function findLog({ records }: Session, key: string, outputs: AcceptedStage['outputs']): Promise<BlobRef | undefined> {
  const record = await records.find(key);
  if (record === undefined || record === 'damaged') return undefined;
  return record.results.find(result => differingPorts(result.outputs, outputs).length === 0)?.log;
}

function pick({ outputs, folderStamp }: Published): Published {
  return { outputs, folderStamp };
}

function plainArtifacts(outputs: AcceptedStage['outputs']): ActionResult['outputs'] {
  return Object.fromEntries(Object.entries(outputs).map(([port, { signature: _, ...artifact }]) => [port, artifact]));
}
