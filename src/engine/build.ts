/** How is exactly the missing part of a plan built? */
import { join } from 'node:path';
import { newMoment } from './action/pin-stage.js';
import type { Session } from './action/session.js';
import { findSettled, openSession, turnSession } from './action/session.js';
import type { Guard } from './execute/guard/guard.js';
import { removeLeftovers } from './execute/run-folder.js';
import type { RunRecorder } from './insight/history/record-run.js';
import type { Hold } from './lockfile/hold.js';
import type { LockFile, LockOrder } from './lockfile/lock-path.js';
import { isProven } from './lockfile/proven-lock.js';
import { artifactPath } from './model/artifact-path.js';
import type { CheckResult } from './model/check-result.js';
import { selectStages } from './model/dependencies.js';
import { messageOf } from './model/engine-error.js';
import type { GateResult } from './model/gate-result.js';
import { checkGate } from './model/gate-result.js';
import type { Plan, PlannedStage, StageId } from './model/plan.js';
import type { EnginePorts } from './model/ports.js';
import type { BuildReport, StageReport } from './model/report.js';
import { onlyRevision, type RevisionSource } from './model/revisions.js';
import type { StageEnd } from './model/stage-end.js';
import { cancelled } from './model/stage-end.js';
import type { SealOrder } from './noop/make-seal.js';
import type { StagesBuilt } from './schedule/build-stages.js';
import { cpuUnits } from './schedule/cpu-units.js';
import type { CacheFolder } from './store/cache-folder.js';
import { cacheFolderAt, makeCacheFolder } from './store/cache-folder.js';
import { findExposure } from './store/exposure.js';
import { joinSights, NO_SIGHTS, type Sights } from './store/files/sights.js';
import type { Lock } from './store/lock/lock.js';
import type { Holder } from './store/lock/lock-holder.js';
import { removeStaging } from './store/publish.js';
import type { AcceptedStage } from './store/state-log.js';

export interface BuildOptions {
  /** Stages to build with all they depend on: `plan.targets` resolves names. */
  readonly targets: 'all' | readonly StageId[];
  /** Units of the cpu pool; where absent the plan's `cpu` pool, or the number of processors. */
  readonly jobs?: number;
  readonly failures: 'stop' | 'keep-going';
  /** 'targets': run the targets (not what they depend on) even where a record exists, and replace it. */
  readonly force: 'targets' | 'never';
  /** 'targets': run every target that has a result once more, in a fresh folder, and compare the bytes. */
  readonly check?: 'targets' | 'never';
  /** Who watches what stages start, and how far it reaches. */
  readonly guard?: Guard | undefined;
  /** Where results of earlier builds are kept; cache/ in the project folder where absent. */
  readonly cacheFolder?: string;
  /** Absolute path of a cache that several checkouts share, to be used besides. */
  readonly sharedCache?: string | undefined;
  /** Lets a later build that is asked for the same say at once that there is nothing to do. */
  readonly seal?: SealOrder;
  /** The names and parameters that the user wrote, for the history. */
  readonly asked?: { readonly targets: readonly string[]; readonly params: readonly string[] };
  /** Where the lock file takes part. */
  readonly lock?: LockOrder;
  /** Newer plans of the same pipeline while the build runs. */
  readonly revisions?: RevisionSource;
}

/**
 * Builds the targets. Stage failures, missed gates and cancellation are in the report; it throws internal errors,
 * and before anything is built LockRefused where the lock file cannot be used.
 */
export async function build(plan: Plan, options: BuildOptions, outer: EnginePorts): Promise<BuildReport> {
  const started = performance.now();
  const writes = countWriteFailures(outer);
  const ports = writes.ports;
  const revisions = options.revisions ?? onlyRevision({ plan, targets: options.targets });
  const cache = cacheFolderAt(options.cacheFolder ?? join(plan.projectFolder, 'cache'), options.sharedCache);
  const {
    plan: built,
    selected,
    ends,
    checks,
    hold,
  } = (await findAllSettled(plan, options, ports, cache)) ?? (await buildUnderLock(revisions, options, ports, cache, started));
  writes.report();
  const gates = checkGates(selected, ends);
  for (const result of gates) ports.emit({ kind: 'gate', result });
  const stages = new Map(selected.map(stage => [stage.id, reportOf(built, stage, ends.get(stage.id) ?? cancelled, hold)]));
  const conclusion = concludeFrom(ends, gates, checks);
  return { stages, gates, checks, durationMs: performance.now() - started, conclusion };
}

/** A cache that cannot be written fails at every stage: the first failure is told in full, the others as a number. */
function countWriteFailures(outer: EnginePorts): { readonly ports: EnginePorts; report(): void } {
  let failures = 0;
  const emit: EnginePorts['emit'] = event => {
    if (event.kind === 'warning' && event.code === 'cache-write-failed' && ++failures > 1) return;
    outer.emit(event);
  };
  return {
    ports: { ...outer, emit },
    report() {
      const message = `${failures - 1} more writes to the cache failed: the next build has to repeat work`;
      if (failures > 1) outer.emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message });
    },
  };
}

function findForced(selected: readonly PlannedStage[], options: BuildOptions): ReadonlySet<StageId> {
  return options.force === 'never' ? new Set() : targetsOf(selected, options);
}

function findChecked(selected: readonly PlannedStage[], options: BuildOptions): ReadonlySet<StageId> {
  return options.check === 'targets' ? targetsOf(selected, options) : new Set();
}

function targetsOf(selected: readonly PlannedStage[], { targets }: BuildOptions): ReadonlySet<StageId> {
  return new Set(targets === 'all' ? selected.map(stage => stage.id) : targets);
}

/** How the stages of a plan ended: the last plan, where a build turned to newer ones. */
interface Ended {
  readonly plan: Plan;
  readonly selected: readonly PlannedStage[];
  readonly ends: ReadonlyMap<StageId, StageEnd>;
  readonly checks: readonly CheckResult[];
  /** Of a frozen build. */
  readonly hold: Hold | undefined;
}

/** Where stamps alone prove every stage up to date, nothing is locked or written. */
async function findAllSettled(plan: Plan, options: BuildOptions, ports: EnginePorts, cache: CacheFolder): Promise<Ended | undefined> {
  if (ports.signal.aborted) return undefined;
  const selected = selectStages(plan, options.targets);
  const look = openSession(plan, ports, cache, 'read');
  const forced = findForced(selected, options);
  if (findChecked(selected, options).size > 0) return undefined;
  if (options.lock?.use === 'frozen') {
    const { findSettledAsLocked } = await import('./lockfile/frozen-build.js');
    const found = await findSettledAsLocked(look, options.lock.file, selected, forced);
    return found === undefined ? undefined : { plan, selected, ends: tell(endsOf(found.settled), ports), checks: [], hold: found.hold };
  }
  const moment = newMoment();
  // A watcher is told of what changes after it has looked: to read what was just saved, and is as it was, takes no lock.
  if (options.revisions !== undefined) await look.pinner.seeSmall(selected, moment);
  const settled = findSettled(look, selected, forced, moment);
  if (settled.size < selected.length || !(await isLocked(look, options.lock?.file, selected, settled))) return undefined;
  return { plan, selected, ends: tell(endsOf(settled), ports), checks: [], hold: undefined };
}

function endsOf(settled: ReadonlyMap<StageId, AcceptedStage>): ReadonlyMap<StageId, StageEnd> {
  return new Map([...settled].map(([stage, accepted]) => [stage, { outcome: { kind: 'up-to-date' }, accepted }]));
}

function tell(ends: ReadonlyMap<StageId, StageEnd>, { emit }: EnginePorts): ReadonlyMap<StageId, StageEnd> {
  for (const [stage, { outcome }] of ends) emit({ kind: 'outcome', stage, outcome });
  return ends;
}

/** Is there nothing to write to the lock file either? */
async function isLocked(
  session: Session,
  lock: LockFile | undefined,
  selected: readonly PlannedStage[],
  results: ReadonlyMap<StageId, AcceptedStage>,
): Promise<boolean> {
  if (lock === undefined || isProven(session.state.lock, lock, session.plan, selected)) return true;
  if (checkGates(selected, endsOf(results)).some(({ verdict }) => verdict === 'missed')) return true;
  const { checkLock } = await import('./lockfile/keep-lock.js');
  return (await checkLock(session, lock, selected, results))?.verdict === 'right';
}

/** What another build did while this one waited counts: everything is looked at again under the lock, and again for each newer plan. */
async function buildUnderLock(
  revisions: RevisionSource,
  options: BuildOptions,
  ports: EnginePorts,
  cache: CacheFolder,
  started: number,
): Promise<Ended> {
  // What is wrong with it is said before hours of work, not after them.
  if (options.lock?.use === 'write') (await import('./lockfile/lock-file.js')).readLockFile(options.lock.file);
  const lock = await lockCache(cache, ports);
  const { buildStages } = await import('./schedule/build-stages.js');
  const { openRunRoom } = await import('./schedule/run-room.js');
  const { recordRun } = await import('./insight/history/record-run.js');
  const recorder = recordRun(ports, started);
  const room = openRunRoom(cache, recorder.ports, options.guard);
  let { plan, targets } = revisions.take();
  try {
    if (lock !== undefined) await removeLeft(plan, cache, ports);
    let session = openSession(plan, recorder.ports, cache, 'write');
    warnOfDamage(session);
    warnOfExposure(session);
    for (let before: ReadonlyMap<StageId, StageEnd> = new Map(); ; ) {
      const superseded = revisions.superseded();
      const selected = selectStages(plan, targets);
      const forced = findForced(selected, { ...options, targets });
      const checked = findChecked(selected, { ...options, targets });
      const { hold, settled } = await findDone(session, options, selected, forced);
      const { jobs, failures } = options;
      const order = { selected, settled, forced, checked, jobs, failures, hold, room, superseded };
      const { ends: after, checks } = await buildStages(session, order);
      const ends = mergeEnds(before, after);
      flushState(session);
      if (!superseded.aborted || ports.signal.aborted) {
        await room.close();
        await keepRecord(session, recorder, options, selected, { ends, checks });
        const locked = options.lock?.use === 'write' ? await writeLock(session, options.lock.file, selected, { ends, checks }) : NO_SIGHTS;
        if (lock !== undefined) await removeLeft(plan, cache, ports);
        if (lock !== undefined && options.seal !== undefined && locked !== undefined) {
          const { keepSeal } = await import('./noop/make-seal.js');
          const { request, sights } = options.seal;
          await keepSeal(plan, ports, cache, selected, { request, sights: joinSights([sights, locked]) });
        }
        return { plan, selected, ends, checks, hold };
      }
      before = ends;
      ({ plan, targets } = revisions.take());
      session = turnSession(session, plan);
    }
  } finally {
    await room.close();
    await lock?.release();
  }
}

/** What stamps alone prove done; of a frozen build, done as the lock holds it. @throws LockRefused. */
async function findDone(
  session: Session,
  { lock }: BuildOptions,
  selected: readonly PlannedStage[],
  forced: ReadonlySet<StageId>,
): Promise<{ readonly hold: Hold | undefined; readonly settled: ReadonlyMap<StageId, AcceptedStage> }> {
  if (session.ports.signal.aborted) return { hold: undefined, settled: new Map() };
  if (lock?.use !== 'frozen') return { hold: undefined, settled: findSettled(session, selected, forced) };
  const { holdToLock, provesHeld } = await import('./lockfile/frozen-build.js');
  try {
    const hold = await holdToLock(session, lock.file, selected);
    return { hold, settled: findSettled(session, selected, forced, undefined, provesHeld(hold)) };
  } finally {
    flushState(session);
  }
}

/** Nothing but a build that is whole and good is worth to be held to. @returns how the lock looks now that it is right; undefined where it is not. */
async function writeLock(
  session: Session,
  lock: LockFile,
  selected: readonly PlannedStage[],
  { ends, checks }: StagesBuilt,
): Promise<Sights | undefined> {
  if (concludeFrom(ends, checkGates(selected, ends), checks) !== 'built') return undefined;
  const results = new Map([...ends].flatMap(([id, { accepted }]) => (accepted === undefined ? [] : [[id, accepted] as const])));
  try {
    const { keepLock } = await import('./lockfile/keep-lock.js');
    const stamp = await keepLock(session, lock, selected, results);
    flushState(session);
    return stamp === undefined ? undefined : { ...NO_SIGHTS, followed: [lock.path, stamp] };
  } catch (error) {
    const message = `${lock.name} is not written: ${messageOf(error)}`;
    session.ports.emit({ kind: 'warning', stage: undefined, code: 'lock-not-written', message });
    return undefined;
  }
}

/** What was done under an older plan is not told as having stood there before. */
function mergeEnds(before: ReadonlyMap<StageId, StageEnd>, after: ReadonlyMap<StageId, StageEnd>): ReadonlyMap<StageId, StageEnd> {
  const merged = new Map(after);
  for (const [stage, end] of after) {
    const earlier = before.get(stage);
    const isDone = earlier?.outcome.kind === 'executed' || earlier?.outcome.kind === 'restored';
    if (isDone && end.outcome.kind === 'up-to-date') merged.set(stage, { ...earlier, accepted: end.accepted });
  }
  return merged;
}

async function lockCache(cache: CacheFolder, ports: EnginePorts): Promise<Lock | undefined> {
  try {
    makeCacheFolder(cache);
    const { acquireLock } = await import('./store/lock/lock.js');
    const onWaiting = (holder: Holder | undefined): void => ports.emit({ kind: 'waiting-for-lock', folder: cache.root, holder });
    return await acquireLock(cache.lock, { signal: ports.signal, onWaiting });
  } catch (error) {
    if (ports.signal.aborted) return undefined;
    const message = `${cache.root} cannot be locked (${messageOf(error)}): do not build twice at the same time`;
    ports.emit({ kind: 'warning', stage: undefined, code: 'lock-unavailable', message });
    return undefined;
  }
}

/** Before and after: what killed builds have left, and what this one could not remove at once. */
async function removeLeft(plan: Plan, cache: CacheFolder, ports: EnginePorts): Promise<void> {
  try {
    await removeLeftovers(cache.temporary);
    await removeStaging(join(plan.projectFolder, 'artifacts'));
  } catch (error) {
    const message = `what an earlier build has left cannot be removed: ${messageOf(error)}`;
    ports.emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message });
  }
}

function warnOfExposure({ cache, ports }: Session): void {
  const shared = cache.shared === undefined ? undefined : findExposure(cache.shared, 'anybody');
  for (const message of [findExposure(cache, 'mine'), shared])
    if (message !== undefined) ports.emit({ kind: 'warning', stage: undefined, code: 'cache-exposed', message });
}

function warnOfDamage({ loaded, ports, cache, plan }: Session): void {
  if (loaded.damagedLines === 0) return;
  const message = `${loaded.damagedLines} of ${loaded.lines} lines of ${cache.state(plan.pipeline)} are damaged or of another version, and left out`;
  ports.emit({ kind: 'warning', stage: undefined, code: 'state-damaged', message });
}

function flushState({ writer, ports }: Session): void {
  try {
    writer?.flush();
  } catch (error) {
    ports.emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message: `the state is not written: ${messageOf(error)}` });
  }
}

/** A build is none the worse where its record cannot be written: that is a warning. */
async function keepRecord(
  { plan, ports, cache }: Session,
  recorder: RunRecorder,
  { asked = { targets: [], params: [] }, failures, force, jobs }: BuildOptions,
  selected: readonly PlannedStage[],
  { ends, checks }: StagesBuilt,
): Promise<void> {
  const gates = checkGates(selected, ends);
  const how = { force: force === 'targets', keepGoing: failures === 'keep-going', jobs: cpuUnits(plan, jobs) };
  const record = recorder.finish({
    plan,
    selected,
    ends,
    gates,
    conclusion: concludeFrom(ends, gates, checks),
    asked: { ...asked, ...how },
  });
  if (record === undefined) return;
  try {
    const { appendRun } = await import('./insight/history/history-file.js');
    appendRun(cache.history(plan.pipeline), record);
  } catch (error) {
    const message = `the history is not written: ${messageOf(error)}`;
    ports.emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message });
  }
}

function checkGates(selected: readonly PlannedStage[], ends: ReadonlyMap<StageId, StageEnd>): readonly GateResult[] {
  return selected.flatMap(stage => {
    const accepted = stage.gate.length === 0 ? undefined : ends.get(stage.id)?.accepted;
    return accepted === undefined ? [] : stage.gate.map(gate => checkGate(stage.id, gate, accepted.metrics));
  });
}

function reportOf(plan: Plan, stage: PlannedStage, end: StageEnd, hold: Hold | undefined): StageReport {
  const ports = Object.keys(end.accepted?.outputs ?? {});
  return {
    stage: stage.id,
    outcome: end.outcome,
    metrics: end.accepted?.metrics,
    previousMetrics: end.previousMetrics,
    locked: end.accepted === undefined ? undefined : hold?.verdictOf(stage.id, end.accepted),
    artifacts: Object.fromEntries(ports.map(port => [port, artifactPath(plan, stage, port)])),
  };
}

function concludeFrom(
  ends: ReadonlyMap<StageId, StageEnd>,
  gates: readonly GateResult[],
  checks: readonly CheckResult[],
): BuildReport['conclusion'] {
  const kinds = new Set([...ends.values()].map(({ outcome }) => outcome.kind));
  if (kinds.has('cancelled') || checks.some(({ verdict }) => verdict === 'cancelled')) return 'cancelled';
  if (kinds.has('failed') || kinds.has('skipped')) return 'failed';
  if (checks.some(({ verdict }) => verdict === 'different' || verdict === 'failed')) return 'not-reproduced';
  return gates.some(({ verdict }) => verdict === 'missed') ? 'gate-missed' : 'built';
}
