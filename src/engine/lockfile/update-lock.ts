/** Writes the lock file after a build that has all results and meets every gate, if the file is outdated. */

import type { JsonObject } from '../../base/json.js';
import { quickKeyOf } from '../action/manifest.js';
import { newObservations, type Observations } from '../action/pin-stage.js';
import type { Session } from '../action/session.js';
import { flushState } from '../action/session-warnings.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import type { Contents } from '../model/artifact.js';
import { EngineError, messageOf } from '../model/engine-error.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import { checkGates, concludeBuild, type EndedBuild } from '../schedule/conclusion.js';
import { NO_STAMPS, type RecordedStamps } from '../store/files/recorded-stamps.js';
import type { Stamp } from '../store/files/stamp.js';
import { isRacy, statPath } from '../store/files/stamp.js';
import { encodeLock } from './encode-lock.js';
import { lockableOf } from './facts.js';
import { lockedContent } from './lock.js';
import { readLockFile, sameText, writeLockFile } from './lock-file.js';
import type { LockFile } from './lock-path.js';
import type { BuiltStage } from './next-lock.js';
import { nextLock } from './next-lock.js';
import { findPortability } from './portability.js';
import { proofOf } from './proven-lock.js';

/** The correct text of the lock file, and whether the file has it. */
export interface LockCheck {
  readonly verdict: 'right' | 'outdated';
  readonly text: string;
}

export interface LockRequest {
  readonly file: LockFile;
  readonly selected: readonly PlannedStage[];
  /** Of every selected stage. */
  readonly results: ReadonlyMap<StageId, AcceptedStage>;
}

/**
 * @returns undefined if an input changed after its stage was built, because the action of the result is unknown then.
 * @throws LockRefused if the existing lock file cannot be read.
 */
export async function checkLock(session: Session, { file, selected, results }: LockRequest): Promise<LockCheck | undefined> {
  const { plan, platformClass } = session;
  const current = readLockFile(file);
  const portability = findPortability(plan);
  const built: BuiltStage[] = [];
  const observations = newObservations();
  for (const stage of selected) {
    const accepted = results.get(stage.id);
    const manifest = accepted === undefined ? undefined : await findManifest(session, stage, accepted, results, observations);
    if (accepted === undefined || manifest === undefined) return undefined;
    const { facts, classInputs } = lockableOf(stage, manifest, portability);
    built.push({ id: stage.id, facts, classInputs, portability: portability.get(stage.id) ?? 'same', outputs: contentsOf(accepted) });
  }
  const ownClass = built.some(stage => stage.portability === 'per-class') ? await platformClass.get() : '';
  const text = encodeLock(nextLock(current?.lock, built, selected.length === plan.stages.size ? 'whole' : 'part', ownClass));
  return { verdict: current !== undefined && sameText(current.text, text) ? 'right' : 'outdated', text };
}

/**
 * Writes the lock file if it is outdated, and notes its stamp in the state, which the caller writes. Call only while holding the lock of
 * the cache.
 * @returns the stamp; undefined if it proves nothing.
 * @throws like `checkLock`, and file system errors.
 */
export async function updateLock(session: Session, request: LockRequest): Promise<Stamp | undefined> {
  const { file, selected } = request;
  const check = await checkLock(session, request);
  if (check === undefined) {
    throw new EngineError('input-changed', 'a source changed after it was read', { help: 'the next build writes it' });
  }
  const stamp = check.verdict === 'outdated' ? await writeLockFile(file, check.text, session.cache) : findSettledStamp(file);
  if (stamp === undefined) return undefined;
  session.writer?.noteLock({ stamp, stages: proofOf(session.plan, selected) });
  return stamp;
}

/**
 * Writes the lock file after a build that has every result and meets every gate; other builds write nothing. A failed write is a warning.
 * @returns the stamp of the correct lock file; undefined if the file is not correct.
 */
export async function updateLockOf(
  session: Session,
  lock: LockFile,
  { selected, ends, checks }: EndedBuild,
): Promise<RecordedStamps | undefined> {
  if (concludeBuild({ ends, checks }, checkGates(selected, ends)) !== 'built') return undefined;
  const results = new Map([...ends].flatMap(([id, { accepted }]) => (accepted === undefined ? [] : [[id, accepted] as const])));
  try {
    const stamp = await updateLock(session, { file: lock, selected, results });
    flushState(session);
    return stamp === undefined ? undefined : { ...NO_STAMPS, followed: [lock.path, stamp] };
  } catch (error) {
    const message = `${lock.name} is not written: ${messageOf(error)}`;
    session.ports.emit({ kind: 'warning', stage: undefined, code: 'lock-not-written', message });
    return undefined;
  }
}

function findSettledStamp({ path }: LockFile): Stamp | undefined {
  const stat = statPath(path);
  return stat === undefined || isRacy(stat, Date.now()) ? undefined : stat.stamp;
}

/** The manifest of the action whose result was accepted: the current one if its key is the same, otherwise the recorded one. */
async function findManifest(
  { pinner, records }: Session,
  stage: PlannedStage,
  accepted: AcceptedStage,
  results: ReadonlyMap<StageId, AcceptedStage>,
  observations: Observations,
): Promise<JsonObject | undefined> {
  try {
    const pinned = pinner.find(stage, id => results.get(id), observations) ?? (await pinner.pin(stage, id => results.get(id)));
    if (quickKeyOf(pinned.manifest) === accepted.quickKey || pinned.key === accepted.key) return pinned.manifest;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
  const record = await records.find(accepted.key);
  return record === undefined || record === 'damaged' ? undefined : record.manifest;
}

function contentsOf({ outputs }: AcceptedStage): Contents {
  return Object.fromEntries(Object.entries(outputs).map(([port, artifact]) => [port, lockedContent(artifact)]));
}
