/** A build that finds every stage up to date by stamps alone. It takes no lock and writes nothing. */
import { newObservations } from '../action/pin-stage.js';
import { findSettled, openSession, type Session } from '../action/session.js';
import type { LockFile, LockOrder } from '../lockfile/lock-path.js';
import { isProven } from '../lockfile/proven-lock.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import type { Plan, PlannedStage, StageId } from '../model/plan.js';
import type { EnginePorts } from '../model/ports.js';
import { checkGates, type EndedBuild, type StageEnds } from '../schedule/conclusion.js';
import type { CacheFolder } from '../store/cache-folder.js';

export interface UpToDateRequest {
  readonly selected: readonly PlannedStage[];
  readonly forced: ReadonlySet<StageId>;
  readonly lock: LockOrder | undefined;
  /**
   * 'read': also reads small files whose stamps prove nothing. A watcher needs this, because it checks files right after they are saved.
   */
  readonly smallFiles: 'read' | 'leave';
}

/** Undefined if anything must be read, run or written. @throws LockRefused if a frozen build cannot use its lock file. */
export async function findAllUpToDate(
  plan: Plan,
  request: UpToDateRequest,
  ports: EnginePorts,
  cache: CacheFolder,
): Promise<EndedBuild | undefined> {
  const { selected, forced, lock } = request;
  const session = openSession(plan, ports, cache, 'read');
  if (lock?.use === 'frozen') {
    const { findSettledAsLocked } = await import('../lockfile/frozen-build.js');
    const found = await findSettledAsLocked(session, lock.file, selected, forced);
    return found === undefined
      ? undefined
      : { ...emitEnds(plan, selected, found.settled, ports), verdictOf: found.lockedOutputs.verdictOf };
  }
  const observations = newObservations();
  if (request.smallFiles === 'read') await session.pinner.readSmallSources(selected, observations);
  const settled = findSettled(session, selected, forced, observations);
  if (settled.size < selected.length || !(await isLockRight(session, lock?.file, selected, settled))) return undefined;
  return emitEnds(plan, selected, settled, ports);
}

function emitEnds(
  plan: Plan,
  selected: readonly PlannedStage[],
  settled: ReadonlyMap<StageId, AcceptedStage>,
  { emit }: EnginePorts,
): EndedBuild {
  const ends = endsOf(settled);
  for (const [stage, { outcome }] of ends) emit({ kind: 'outcome', stage, outcome });
  return { plan, selected, ends, checks: [] };
}

function endsOf(settled: ReadonlyMap<StageId, AcceptedStage>): StageEnds {
  return new Map([...settled].map(([stage, accepted]) => [stage, { outcome: { kind: 'up-to-date' }, accepted }]));
}

/** Whether the lock file needs no write. */
async function isLockRight(
  session: Session,
  lock: LockFile | undefined,
  selected: readonly PlannedStage[],
  results: ReadonlyMap<StageId, AcceptedStage>,
): Promise<boolean> {
  if (lock === undefined || isProven(session.state.lock, lock, session.plan, selected)) return true;
  if (checkGates(selected, endsOf(results)).some(({ verdict }) => verdict === 'missed')) return true;
  const { checkLock } = await import('../lockfile/update-lock.js');
  return (await checkLock(session, { file: lock, selected, results }))?.verdict === 'right';
}
