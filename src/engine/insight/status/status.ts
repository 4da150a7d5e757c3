/** Determines what a build would do and why. It checks the same things as a build, and changes nothing. */
import { join } from 'node:path';
import { findDevice } from '../../action/declared.js';
import { describeChangeOf, inputOf } from '../../action/input-of.js';
import { newObservations, type Observations } from '../../action/pin-stage.js';
import type { Session } from '../../action/session.js';
import { compareWithLast, findSettled, openSession } from '../../action/session.js';
import { warnOfUnreadableCache } from '../../action/session-warnings.js';
import type { LockFile } from '../../lockfile/lock-path.js';
import type { LockedOutputs } from '../../lockfile/locked-outputs.js';
import { dependenciesOf, selectStages } from '../../model/dependencies.js';
import { EngineError } from '../../model/engine-error.js';
import { toFailure } from '../../model/failure.js';
import type { KnownResult } from '../../model/known-result.js';
import type { InputBinding, InputRef, Plan, PlannedStage, StageId } from '../../model/plan.js';
import type { EnginePorts } from '../../model/ports.js';
import { cacheFolderAt } from '../../store/cache-folder.js';
import { createRecordIndex, type RecordIndex } from '../../store/record-index.js';
import type { Trust } from '../../store/state-log.js';
import { createEqualActions, type EqualActions } from './equal-actions.js';
import { findLocked } from './find-locked.js';
import { findResult } from './find-result.js';
import { type Examined, type Found, type StageStatus, upToDate } from './stage-status.js';

export interface StatusOptions {
  readonly targets: 'all' | readonly StageId[];
  readonly force: 'targets' | 'never';
  readonly cacheFolder?: string;
  readonly sharedCache?: string | undefined;
  /** 'nothing': the status for a build that reads everything again. */
  readonly trust?: Trust;
  /** The lock file, for the status of a frozen build. */
  readonly lock?: LockFile;
  /** Of earlier examinations of this process. Default: records are read where one is needed. */
  readonly records?: RecordIndex;
}

/**
 * Every selected stage in the order of the plan: its status, and what is known of its action. This is also the dry run of a build with the
 * same options.
 * @throws LockRefused if a frozen build would be refused.
 */
export async function examineStages(plan: Plan, options: StatusOptions, ports: EnginePorts): Promise<ReadonlyMap<StageId, Examined>> {
  return examineIn(openForReading(plan, options, ports), options);
}

export function openForReading(
  plan: Plan,
  { cacheFolder, sharedCache, trust }: Pick<StatusOptions, 'cacheFolder' | 'sharedCache' | 'trust'>,
  ports: EnginePorts,
): Session {
  const cache = cacheFolderAt(cacheFolder ?? join(plan.projectFolder, 'cache'), sharedCache);
  warnOfUnreadableCache({ cache, ports });
  return openSession(plan, ports, cache, 'read', trust);
}

/** Like `examineStages`, in an open session. */
export async function examineIn(session: Session, options: StatusOptions): Promise<ReadonlyMap<StageId, Examined>> {
  const selected = selectStages(session.plan, options.targets);
  const forced = new Set(options.force === 'never' ? [] : options.targets === 'all' ? selected.map(({ id }) => id) : options.targets);
  const frozen = options.lock === undefined ? undefined : await import('../../lockfile/frozen-build.js');
  const lockedOutputs = options.lock === undefined ? undefined : await frozen?.openLockedOutputs(session, options.lock, selected);
  const observations = newObservations();
  const settled = findSettled(
    session,
    selected,
    forced,
    observations,
    lockedOutputs === undefined ? undefined : frozen?.provesLocked(lockedOutputs),
  );
  const examined = new Map<StageId, Examined>();
  const examination: Examination = {
    session,
    forced,
    lockedOutputs,
    observations,
    results: new Map(),
    statuses: new Map(),
    equalActions: createEqualActions(session, options.records ?? createRecordIndex()),
  };
  for (const stage of selected) {
    const accepted = session.state.stages.get(stage.id);
    const found = settled.has(stage.id) ? upToDate : await examine(examination, stage);
    const device = findDevice(stage, session.state.devices);
    examination.statuses.set(stage.id, found.status);
    const manifest = found.isWhole ? found.pinned?.manifest : undefined;
    examined.set(stage.id, { status: found.status, pinned: found.pinned, manifest, accepted, cached: found.result, device });
    const known = found.status.kind === 'up-to-date' ? accepted : found.result;
    if (known !== undefined) examination.results.set(stage.id, known);
    if (found.status.kind === 'stale' || found.status.kind === 'undecided')
      examination.equalActions.note(stage.id, found.pinned?.manifest ?? {});
  }
  for (const [stage, one] of examined) examined.set(stage, { ...one, status: withEqualAction(examination, stage, one.status) });
  return examined;
}

/** A stage that would run may take the result of an earlier stage with an equal action instead. */
function withEqualAction({ equalActions, forced }: Examination, stage: StageId, status: StageStatus): StageStatus {
  if (status.kind !== 'stale' || forced.has(stage)) return status;
  const equalStage = equalActions.findOther(stage);
  return equalStage === undefined ? status : { kind: 'undecided', because: status.after, changes: status.changes, equalStage };
}

/** The state of one examination. */
interface Examination {
  readonly session: Session;
  readonly forced: ReadonlySet<StageId>;
  /** Set for a frozen build. */
  readonly lockedOutputs: LockedOutputs | undefined;
  /** Each source, program and plugin is read once. */
  readonly observations: Observations;
  readonly results: Map<StageId, KnownResult>;
  readonly statuses: Map<StageId, StageStatus>;
  readonly equalActions: EqualActions;
}

async function examine(examination: Examination, stage: PlannedStage): Promise<Found> {
  const { session, results, statuses, lockedOutputs } = examination;
  const because = dependenciesOf(stage).filter(id => !results.has(id));
  const blocker = because.find(id => ['impossible', 'blocked'].includes(statuses.get(id)?.kind ?? ''));
  try {
    if (because.length > 0) {
      const found = await foresee(examination, stage, because);
      return blocker === undefined ? found : { status: { kind: 'blocked', because: blocker } };
    }
    const pinned = await session.pinner.pin(stage, id => results.get(id), examination.observations);
    const allowed = lockedOutputs?.of(stage, pinned.manifest);
    const locked = allowed === undefined ? undefined : await findLocked(session, stage, examination.forced.has(stage.id), pinned, allowed);
    return { ...(locked ?? (await findResult(session, stage, examination.forced.has(stage.id), pinned))), isWhole: true };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    // The build does not reach this error, because an earlier stage cannot start.
    if (blocker !== undefined) return { status: { kind: 'blocked', because: blocker } };
    return { status: { kind: 'impossible', failure: toFailure(error) } };
  }
}

/** The status of a stage with inputs that are not known yet. */
async function foresee(
  { session, forced, lockedOutputs, observations, results, equalActions }: Examination,
  stage: PlannedStage,
  because: readonly StageId[],
): Promise<Found> {
  // Such a stage reads a summary of all stages before it, so nothing of its action is known.
  if (stage.plugin.plugin.needs === 'build-summary') return { status: { kind: 'undecided', because, changes: [] } };
  const known = withKnownInputs(stage, results);
  const pinned = await session.pinner.pin(known, id => results.get(id), observations);
  const comparison = await compareWithLast(session, stage, pinned.manifest);
  const changes = comparison.changes.filter(({ label, after }) => after !== undefined || !isOfUnknownInput(stage, label, results));
  if (forced.has(stage.id)) return { status: { kind: 'stale', reasons: ['forced'], changes, after: because }, pinned };
  // The cache may have locked outputs for any inputs.
  if (lockedOutputs !== undefined || equalActions.isRecorded(pinned.manifest))
    return { status: { kind: 'undecided', because, changes }, pinned };
  const reasons = changes.length > 0 ? changes.map(change => describeChangeOf(stage, change)) : comparison.reasons;
  return { status: { kind: 'stale', reasons, changes, after: because }, pinned };
}

/** The stage without the inputs that are not known yet. */
function withKnownInputs(stage: PlannedStage, results: ReadonlyMap<StageId, KnownResult>): PlannedStage {
  const isKnown = (ref: InputRef): boolean => ref.kind === 'source' || results.has(ref.stage);
  const inputs = Object.entries(stage.inputs).flatMap(([port, binding]): [string, InputBinding][] => {
    if (binding.kind !== 'record') return isKnown(binding) ? [[port, binding]] : [];
    const entries = Object.fromEntries(Object.entries(binding.entries).filter(([, ref]) => isKnown(ref)));
    return [[port, { kind: 'record', entries }]];
  });
  return { ...stage, inputs: Object.fromEntries(inputs) };
}

function isOfUnknownInput(stage: PlannedStage, label: string, results: ReadonlyMap<StageId, KnownResult>): boolean {
  const ref = inputOf(stage, label);
  return ref?.kind === 'artifact' && !results.has(ref.stage);
}
