/** The build: runs or restores the stages that are out of date, and leaves the others unchanged. */
import { join } from 'node:path';
import { findSettled, openSession, type Session, switchPlan, withRemote } from './action/session.js';
import { flushState, warnOfOpenedCache } from './action/session-warnings.js';
import type { Guard } from './execute/guard/guard.js';
import { savePublishedNames } from './execute/publish-stage.js';
import type { RemoteRuns } from './execute/remote/remote-runs.js';
import type { RunRecorder } from './insight/history/record-run.js';
import { type BuildJournal, keepJournal } from './insight/live/build-journal.js';
import type { LockOrder } from './lockfile/lock-path.js';
import type { AcceptedStage } from './model/accepted-stage.js';
import { selectStages } from './model/dependencies.js';
import type { Plan, PlannedStage, StageId } from './model/plan.js';
import type { EnginePorts } from './model/ports.js';
import type { BuildReport } from './model/report.js';
import { onlyRevision, type RevisionSource } from './model/revisions.js';
import { findAllUpToDate } from './noop/find-up-to-date.js';
import type { NoOpRequest } from './noop/make-no-op-record.js';
import { checkGates, type EndedBuild, mergeEnds, reportBuild, type StageEnds, type VerdictOf } from './schedule/conclusion.js';
import { cpuUnits } from './schedule/cpu-units.js';
import type { ResultRule } from './schedule/result-rule.js';
import type { FailedRuns, RunServices } from './schedule/run-services.js';
import { type CacheFolder, cacheFolderAt } from './store/cache-folder.js';
import { joinStamps, NO_STAMPS } from './store/files/recorded-stamps.js';
import { stampOf } from './store/files/stamp.js';
import { removeAllLeftovers, warnOfForeignPaths } from './store/leftovers.js';
import { lockCache } from './store/lock/lock-cache.js';
import type { RemoteUse } from './store/remote/remote-use.js';
import type { Trust } from './store/state-log.js';
import { removeLeftSubset } from './sweep/remove-left-subset.js';

export interface BuildOptions {
  /** Stages to build with all their dependencies. `plan.targets` resolves names. */
  readonly targets: 'all' | readonly StageId[];
  /** Units of the cpu pool. Default: the plan's `cpu` pool, or else the number of processors. */
  readonly jobs?: number;
  readonly failures: 'stop' | 'keep-going';
  /** 'targets': run the targets (not their dependencies) even if a record exists, and replace the record. */
  readonly force: 'targets' | 'never';
  /** 'targets': run every target that has a result once more, in a fresh folder, and compare the bytes. */
  readonly check?: 'targets' | 'never';
  /** 'nothing': every source, program, module and artifact is read again, whatever its stamp. */
  readonly trust?: Trust;
  /** The sandbox, the trace of system calls, or both, for the processes that stages start. */
  readonly guard?: Guard | undefined;
  /** Folder with the results of earlier builds. Default: cache/ in the project folder. */
  readonly cacheFolder?: string;
  /** Absolute path of an additional cache that several checkouts share. */
  readonly sharedCache?: string | undefined;
  /** Lets a later build with the same request report immediately that nothing is out of date. */
  readonly noOp?: NoOpRequest;
  /** The targets and parameters as the user wrote them, for the history. */
  readonly asked?: { readonly targets: readonly string[]; readonly params: readonly string[] };
  /** The lock file and its use, if the build has one. */
  readonly lock?: LockOrder;
  /** A cache on another machine, opened by the caller, who also closes it. */
  readonly remote?: RemoteUse | undefined;
  /** Failures of the builds that this one goes on from: their actions are not run again. Its own are added. Default: none. */
  readonly failedRuns?: FailedRuns;
  /** Newer plans of the same pipeline that arrive while the build runs. */
  readonly revisions?: RevisionSource;
}

/**
 * Builds the targets. Stage failures, missed gates and cancellation are in the report.
 * @throws LockRefused before anything is built if the lock file cannot be used; InternalError.
 */
export async function build(plan: Plan, options: BuildOptions, outer: EnginePorts): Promise<BuildReport> {
  const started = performance.now();
  const { ports: counted, reportWriteFailures } = countWriteFailures(outer);
  const cache = cacheFolderAt(options.cacheFolder ?? join(plan.projectFolder, 'cache'), options.sharedCache);
  const journal = keepJournal(counted);
  let conclusion: BuildReport['conclusion'] = 'failed';
  try {
    const { ports } = journal;
    const ended = (await findUpToDate(plan, options, ports, cache)) ?? (await buildUnderLock(plan, options, journal, cache, started));
    reportWriteFailures();
    const gates = checkGates(ended.selected, ended.ends);
    for (const result of gates) ports.emit({ kind: 'gate', result });
    const report = reportBuild(ended, gates, performance.now() - started);
    conclusion = report.conclusion;
    return report;
  } finally {
    journal.close(conclusion);
  }
}

/** The end of a build that has nothing to do. Locks nothing, and writes nothing except a no-op record that is missing or outdated. */
async function findUpToDate(plan: Plan, options: BuildOptions, ports: EnginePorts, cache: CacheFolder): Promise<EndedBuild | undefined> {
  if (ports.signal.aborted || options.check === 'targets' || options.trust === 'nothing' || ignoresLocal(options)) return undefined;
  const { lock, targets, revisions, noOp } = options;
  const lockStamp = lock === undefined ? '' : stampOf(lock.file.path);
  const selected = selectStages(plan, targets);
  const smallFiles = revisions === undefined ? 'leave' : 'read';
  const ended = await findAllUpToDate(plan, { selected, forced: forcedOf(selected, options, targets), lock, smallFiles }, ports, cache);
  if (ended === undefined || noOp === undefined || lock?.use === 'frozen' || missesGate(ended)) return ended;
  const lockSeen = lock === undefined ? NO_STAMPS : { ...NO_STAMPS, followed: [lock.file.path, lockStamp] };
  const { renewNoOpRecord } = await import('./noop/make-no-op-record.js');
  const order = { request: noOp.request, stamps: joinStamps([noOp.stamps, lockSeen]) };
  await renewNoOpRecord({ plan, ports, cache, selected, order });
  return ended;
}

function ignoresLocal({ remote }: BuildOptions): boolean {
  return remote?.local === 'ignored';
}

/** A build that misses a gate has no no-op record, because every build has to report that. */
function missesGate({ selected, ends }: EndedBuild): boolean {
  return checkGates(selected, ends).some(({ verdict }) => verdict === 'missed');
}

/** Checks everything again under the lock, because another build may have run while this one waited. */
async function buildUnderLock(
  plan: Plan,
  options: BuildOptions,
  { ports, open: openJournal }: BuildJournal,
  cache: CacheFolder,
  started: number,
): Promise<EndedBuild> {
  // An unreadable lock file is reported before hours of work, not after them.
  if (options.lock?.use === 'write') (await import('./lockfile/lock-file.js')).readLockFile(options.lock.file);
  const { openRunServices } = await import('./schedule/run-services.js');
  const { recordRun } = await import('./insight/history/record-run.js');
  const lock = await lockCache(cache, ports);
  if (lock !== undefined) openJournal(cache.journal(plan.pipeline));
  const recorder = recordRun(ports, started, plan);
  const remoteRuns = await openRemote(options, cache, recorder.ports);
  const services = openRunServices(cache, recorder.ports, options.guard, remoteRuns, options.failedRuns);
  const clear = async (): Promise<readonly string[]> => (lock === undefined ? [] : removeAllLeftovers(plan.projectFolder, cache, ports));
  try {
    if (lock !== undefined) await removeLeftSubset(plan, cache, ports);
    warnOfForeignPaths(await clear(), ports);
    const { session, ended: built } = await buildNewestPlan(plan, options, recorder.ports, cache, services);
    await services.close();
    const ended = { ...built, remote: await finishUploads(session) };
    await storeRecords(session, recorder, options, ended, { locked: lock !== undefined, clear });
    return ended;
  } finally {
    await services.close();
    await lock?.release();
  }
}

/** The remote workers of the build; undefined without a server that may have some. */
async function openRemote({ remote }: BuildOptions, cache: CacheFolder, { emit }: EnginePorts): Promise<RemoteRuns | undefined> {
  if (remote === undefined) return undefined;
  const { openRemoteRuns } = await import('./execute/remote/remote-runs.js');
  return openRemoteRuns(remote, cache, (stage, message) => emit({ kind: 'warning', stage, code: 'remote-execution-failed', message }));
}

/** Builds a plan to its end. If a newer plan arrives, unaffected stages continue, and the newer plan is built. */
async function buildNewestPlan(
  first: Plan,
  options: BuildOptions,
  ports: EnginePorts,
  cache: CacheFolder,
  services: RunServices,
): Promise<{ readonly session: Session; readonly ended: EndedBuild }> {
  const { buildStages } = await import('./schedule/build-stages.js');
  const { jobs, failures } = options;
  const revisions = options.revisions ?? onlyRevision({ plan: first, targets: options.targets });
  let { plan, targets } = revisions.take();
  let session = await withRemote(openSession(plan, ports, cache, 'write', options.trust), options.remote);
  warnOfOpenedCache(session);
  for (let before: StageEnds = new Map(); ; ) {
    const superseded = revisions.superseded();
    const selected = selectStages(plan, targets);
    const forced = forcedOf(selected, options, targets);
    const checked = options.check === 'targets' ? targetsOf(selected, targets) : new Set<StageId>();
    const { settled, rule, verdictOf } = await findSettledStages(session, options, selected, forced);
    const asked = targetsOf(selected, targets);
    const built = await buildStages(session, {
      selected,
      settled,
      forced,
      targets: asked,
      checked,
      jobs,
      failures,
      rule,
      services,
      superseded,
    });
    const ends = mergeEnds(before, built.ends);
    flushState(session);
    if (!superseded.aborted || ports.signal.aborted) return { session, ended: { plan, selected, ends, checks: built.checks, verdictOf } };
    before = ends;
    ({ plan, targets } = revisions.take());
    session = switchPlan(session, plan);
  }
}

async function finishUploads({ remote, ports }: Session): Promise<EndedBuild['remote']> {
  if (remote === undefined) return undefined;
  const results = remote.pending();
  if (results > 0) ports.emit({ kind: 'uploading', results, address: remote.use.address });
  const summary = await remote.finish(ports.signal);
  return { summary, need: remote.use.need };
}

interface SettledStages {
  readonly settled: ReadonlyMap<StageId, AcceptedStage>;
  readonly rule?: ResultRule | undefined;
  readonly verdictOf?: VerdictOf | undefined;
}

/** The stages that stamps alone prove up to date; in a frozen build also equal to the lock file. @throws LockRefused. */
async function findSettledStages(
  session: Session,
  { lock, remote }: BuildOptions,
  selected: readonly PlannedStage[],
  forced: ReadonlySet<StageId>,
): Promise<SettledStages> {
  if (session.ports.signal.aborted || (remote?.local === 'ignored' && lock?.use !== 'frozen'))
    return { settled: new Map(), rule: undefined };
  if (lock?.use !== 'frozen') return { settled: findSettled(session, selected, forced), rule: undefined };
  const { openLockedOutputs, provesLocked } = await import('./lockfile/frozen-build.js');
  const { ruleOf } = await import('./lockfile/end-as-locked.js');
  try {
    const lockedOutputs = await openLockedOutputs(session, lock.file, selected);
    return {
      settled: findSettled(session, selected, forced, undefined, provesLocked(lockedOutputs)),
      rule: ruleOf(lockedOutputs),
      verdictOf: lockedOutputs.verdictOf,
    };
  } finally {
    flushState(session);
  }
}

/** Writes the history, the lock file and the no-op record of a build that has ended. */
async function storeRecords(
  session: Session,
  recorder: RunRecorder,
  options: BuildOptions,
  ended: EndedBuild,
  { locked, clear }: { readonly locked: boolean; clear(): Promise<unknown> },
): Promise<void> {
  const { plan, ports, cache } = session;
  const { asked = { targets: [], params: [] }, force, failures, jobs, lock, noOp } = options;
  const { storeRun } = await import('./insight/history/store-run.js');
  const how = { force: force === 'targets', keepGoing: failures === 'keep-going', jobs: cpuUnits(plan, jobs) };
  await storeRun(session, recorder, ended, checkGates(ended.selected, ended.ends), { ...asked, ...how });
  const lockSeen =
    lock?.use === 'write' ? await (await import('./lockfile/update-lock.js')).updateLockOf(session, lock.file, ended) : NO_STAMPS;
  savePublishedNames(session, ended.ends);
  await clear();
  if (!locked || noOp === undefined || lockSeen === undefined) return;
  const { writeNoOpRecord } = await import('./noop/make-no-op-record.js');
  const order = { request: noOp.request, stamps: joinStamps([noOp.stamps, lockSeen]) };
  await writeNoOpRecord({ plan, ports, cache, selected: ended.selected, order });
}

function forcedOf(selected: readonly PlannedStage[], { force }: BuildOptions, targets: 'all' | readonly StageId[]): ReadonlySet<StageId> {
  return force === 'targets' ? targetsOf(selected, targets) : new Set();
}

function targetsOf(selected: readonly PlannedStage[], targets: 'all' | readonly StageId[]): ReadonlySet<StageId> {
  return new Set(targets === 'all' ? selected.map(stage => stage.id) : targets);
}

/** A cache without write access fails at every stage: the first failure is reported in full, the others as a count. */
function countWriteFailures(outer: EnginePorts): { readonly ports: EnginePorts; reportWriteFailures(): void } {
  let failures = 0;
  const emit: EnginePorts['emit'] = event => {
    if (event.kind === 'warning' && event.code === 'cache-write-failed' && ++failures > 1) return;
    outer.emit(event);
  };
  return {
    ports: { ...outer, emit },
    reportWriteFailures() {
      const message = `${failures - 1} more writes to the cache failed: the next build has to repeat work`;
      if (failures > 1) outer.emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message });
    },
  };
}
