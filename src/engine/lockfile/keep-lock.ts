/** When is the lock written? When a build has all its results and every gate is met; and only where it does not say so already. */

import type { JsonObject } from '../../base/json.js';
import { quickKeyOf } from '../action/manifest.js';
import { type Moment, newMoment } from '../action/pin-stage.js';
import type { Session } from '../action/session.js';
import { flushState } from '../action/session-warnings.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import type { Contents } from '../model/artifact.js';
import { EngineError, messageOf } from '../model/engine-error.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import { checkGates, concludeBuild, type EndedBuild } from '../schedule/conclusion.js';
import { NO_SIGHTS, type Sights } from '../store/files/sights.js';
import type { Stamp } from '../store/files/stamp.js';
import { isRacy, lookAt } from '../store/files/stamp.js';
import { encodeLock } from './encode-lock.js';
import { lockableOf } from './facts.js';
import { lockedContent } from './lock.js';
import { readLockFile, sameText, writeLockFile } from './lock-file.js';
import type { LockFile } from './lock-path.js';
import type { BuiltStage } from './next-lock.js';
import { nextLock } from './next-lock.js';
import { findPortability } from './portability.js';
import { proofOf } from './proven-lock.js';

/** What the lock should say, and whether it does. */
export interface LockCheck {
  readonly verdict: 'right' | 'outdated';
  readonly text: string;
}

/**
 * @param results of every selected stage.
 * @returns undefined where an input has changed since its stage was built, so that nothing is known any more of the action that was.
 * @throws LockRefused where what is there cannot be read.
 */
export async function checkLock(
  session: Session,
  file: LockFile,
  selected: readonly PlannedStage[],
  results: ReadonlyMap<StageId, AcceptedStage>,
): Promise<LockCheck | undefined> {
  const { plan, platformClass } = session;
  const current = readLockFile(file);
  const portability = findPortability(plan);
  const built: BuiltStage[] = [];
  const moment = newMoment();
  for (const stage of selected) {
    const accepted = results.get(stage.id);
    const manifest = accepted === undefined ? undefined : await findManifest(session, stage, accepted, results, moment);
    if (accepted === undefined || manifest === undefined) return undefined;
    const { facts, classInputs } = lockableOf(stage, manifest, portability);
    built.push({ id: stage.id, facts, classInputs, portability: portability.get(stage.id) ?? 'same', outputs: contentsOf(accepted) });
  }
  const ownClass = built.some(stage => stage.portability === 'per-class') ? await platformClass.get() : '';
  const text = encodeLock(nextLock(current?.lock, built, selected.length === plan.stages.size ? 'whole' : 'part', ownClass));
  return { verdict: current !== undefined && sameText(current.text, text) ? 'right' : 'outdated', text };
}

/** Writes the lock where it is outdated, and notes for the state that it is right: whoever calls writes the state. @returns its stamp, where that says something. Only under the cache's lock. @throws as `checkLock`, and what the file system throws. */
export async function keepLock(
  session: Session,
  file: LockFile,
  selected: readonly PlannedStage[],
  results: ReadonlyMap<StageId, AcceptedStage>,
): Promise<Stamp | undefined> {
  const check = await checkLock(session, file, selected, results);
  if (check === undefined) {
    throw new EngineError('input-changed', 'a source changed after it was read', { help: 'the next build writes it' });
  }
  const stamp = check.verdict === 'outdated' ? await writeLockFile(file, check.text, session.cache) : findSettledStamp(file);
  if (stamp === undefined) return undefined;
  session.writer?.noteLock({ stamp, stages: proofOf(session.plan, selected) });
  return stamp;
}

/**
 * Writes the lock after a build that has every result and meets every gate; others write nothing. A failed write is a warning.
 * @returns how the lock looks now that it is right; undefined where it is not.
 */
export async function keepLockOf(session: Session, lock: LockFile, { selected, ends, checks }: EndedBuild): Promise<Sights | undefined> {
  if (concludeBuild({ ends, checks }, checkGates(selected, ends)) !== 'built') return undefined;
  const results = new Map([...ends].flatMap(([id, { accepted }]) => (accepted === undefined ? [] : [[id, accepted] as const])));
  try {
    const stamp = await keepLock(session, lock, selected, results);
    flushState(session);
    return stamp === undefined ? undefined : { ...NO_SIGHTS, followed: [lock.path, stamp] };
  } catch (error) {
    const message = `${lock.name} is not written: ${messageOf(error)}`;
    session.ports.emit({ kind: 'warning', stage: undefined, code: 'lock-not-written', message });
    return undefined;
  }
}

function findSettledStamp({ path }: LockFile): Stamp | undefined {
  const look = lookAt(path);
  return look === undefined || isRacy(look, Date.now()) ? undefined : look.stamp;
}

/** The manifest of the action whose result was accepted: as it is now, where that is the same, else as it was recorded. */
async function findManifest(
  { pinner, records }: Session,
  stage: PlannedStage,
  accepted: AcceptedStage,
  results: ReadonlyMap<StageId, AcceptedStage>,
  moment: Moment,
): Promise<JsonObject | undefined> {
  try {
    const pinned = pinner.find(stage, id => results.get(id), moment) ?? (await pinner.pin(stage, id => results.get(id)));
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
