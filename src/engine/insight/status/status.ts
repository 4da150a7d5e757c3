/** Determines what a build would do and why. It checks the same things as a build, and changes nothing. */

import { join } from 'node:path';
import type { JsonObject } from '../../../base/json.js';
import type { Change } from '../../action/changes.js';
import { findDevice } from '../../action/declared.js';
import { describeChangeOf, inputOf } from '../../action/input-of.js';
import { type Moment, newMoment } from '../../action/pin-stage.js';
import type { PinnedStage } from '../../action/pinned-stage.js';
import type { Session } from '../../action/session.js';
import { compareWithLast, findSettled, isResultOf, openSession, placeOf } from '../../action/session.js';
import { warnOfUnreadableCache } from '../../action/session-warnings.js';
import { heldActions } from '../../lockfile/held-actions.js';
import type { Hold, StageHold } from '../../lockfile/hold.js';
import { findEqual, lockedResults } from '../../lockfile/hold.js';
import type { LockFile } from '../../lockfile/lock-path.js';
import type { AcceptedStage } from '../../model/accepted-stage.js';
import type { Artifacts } from '../../model/artifact.js';
import { dependenciesOf, selectStages } from '../../model/dependencies.js';
import { EngineError } from '../../model/engine-error.js';
import type { Failure } from '../../model/failure.js';
import { toFailure } from '../../model/failure.js';
import type { KnownResult } from '../../model/known-result.js';
import type { InputBinding, InputRef, Plan, PlannedStage, StageId } from '../../model/plan.js';
import type { EnginePorts } from '../../model/ports.js';
import type { ActionResult } from '../../store/action-records.js';
import { cacheFolderAt } from '../../store/cache-folder.js';
import { decodeTree } from '../../store/files/tree.js';
import { findArtifacts, haveStatedSizes } from '../../store/find-artifacts.js';
import { findTouched, resign } from '../../store/published.js';
import type { KnownDevice, Trust } from '../../store/state-log.js';
import { createRivals, type Rivals } from './rivals.js';

export type StageStatus =
  | { readonly kind: 'up-to-date' }
  /** The cache has a result for exactly these inputs. */
  | { readonly kind: 'restorable'; readonly reasons: readonly string[]; readonly changes: readonly Change[] }
  /** A build would run it once the stages `after` have ended, whatever their results. */
  | { readonly kind: 'stale'; readonly reasons: readonly string[]; readonly changes: readonly Change[]; readonly after: readonly StageId[] }
  /**
   * It depends on stages that would run. It runs unless the cache has a result for their outputs. `changes`: the changes known so far.
   * `rival`: a stage whose action may be equal. The first of the two runs; the other takes its result.
   */
  | { readonly kind: 'undecided'; readonly because: readonly StageId[]; readonly changes: readonly Change[]; readonly rival?: StageId }
  /** It cannot start: an input is missing or unreadable. */
  | { readonly kind: 'impossible'; readonly failure: Failure }
  /** It cannot start because a stage that it depends on cannot. */
  | { readonly kind: 'blocked'; readonly because: StageId };

export interface StatusOptions {
  readonly targets: 'all' | readonly StageId[];
  readonly force: 'targets' | 'never';
  readonly cacheFolder?: string;
  readonly sharedCache?: string | undefined;
  /** 'nothing': the status for a build that reads everything again. */
  readonly trust?: Trust;
  /** The lock file, for the status of a frozen build. */
  readonly lock?: LockFile;
}

export interface Examined {
  readonly status: StageStatus;
  /** The action without inputs that are not known yet; absent if the stage was not, or could not be, examined in detail. */
  readonly pinned: PinnedStage | undefined;
  /** The complete manifest; absent if an input is not known. */
  readonly manifest: JsonObject | undefined;
  readonly accepted: AcceptedStage | undefined;
  /** What is known of the device that the stage measures on, from its last start. */
  readonly device: KnownDevice | undefined;
}

/**
 * Every selected stage in the order of the plan: its status, and what is known of its action. This is also the dry run of a build with the
 * same options.
 * @throws LockRefused if a frozen build would be refused.
 */
export async function examineStages(plan: Plan, options: StatusOptions, ports: EnginePorts): Promise<ReadonlyMap<StageId, Examined>> {
  return examineIn(openToLook(plan, options, ports), options);
}

export function openToLook(
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
  const hold = options.lock === undefined ? undefined : await frozen?.holdToLock(session, options.lock, selected);
  const moment = newMoment();
  const settled = findSettled(session, selected, forced, moment, hold === undefined ? undefined : frozen?.provesHeld(hold));
  const examined = new Map<StageId, Examined>();
  const look: Look = { session, forced, hold, moment, results: new Map(), statuses: new Map(), rivals: createRivals(session) };
  for (const stage of selected) {
    const accepted = session.state.stages.get(stage.id);
    const found = settled.has(stage.id) ? upToDate : await examine(look, stage);
    const device = findDevice(stage, session.state.devices);
    look.statuses.set(stage.id, found.status);
    const manifest = found.isWhole ? found.pinned?.manifest : undefined;
    examined.set(stage.id, { status: found.status, pinned: found.pinned, manifest, accepted, device });
    const known = found.status.kind === 'up-to-date' ? accepted : found.result;
    if (known !== undefined) look.results.set(stage.id, known);
    if (found.status.kind === 'stale' || found.status.kind === 'undecided') look.rivals.note(stage.id, found.pinned?.manifest ?? {});
  }
  for (const [stage, one] of examined) examined.set(stage, { ...one, status: withRival(look, stage, one.status) });
  return examined;
}

/** A stage that would run may take the result of an earlier stage with an equal action instead. */
function withRival({ rivals, forced }: Look, stage: StageId, status: StageStatus): StageStatus {
  if (status.kind !== 'stale' || forced.has(stage)) return status;
  const rival = rivals.rivalOf(stage);
  return rival === undefined ? status : { kind: 'undecided', because: status.after, changes: status.changes, rival };
}

/** The state of one examination. */
interface Look {
  readonly session: Session;
  readonly forced: ReadonlySet<StageId>;
  /** Set for a frozen build. */
  readonly hold: Hold | undefined;
  /** Each source, program and plugin is read once. */
  readonly moment: Moment;
  readonly results: Map<StageId, KnownResult>;
  readonly statuses: Map<StageId, StageStatus>;
  readonly rivals: Rivals;
}

interface Found {
  readonly status: StageStatus;
  readonly pinned?: PinnedStage;
  /** Every input is known. */
  readonly isWhole?: true;
  /** The outputs, if they are known before the build. */
  readonly result?: KnownResult;
}

const upToDate: Found = { status: { kind: 'up-to-date' } };

async function examine(look: Look, stage: PlannedStage): Promise<Found> {
  const { session, results, statuses, hold } = look;
  const because = dependenciesOf(stage).filter(id => !results.has(id));
  const blocker = because.find(id => ['impossible', 'blocked'].includes(statuses.get(id)?.kind ?? ''));
  try {
    if (because.length > 0) {
      const found = await foresee(look, stage, because);
      return blocker === undefined ? found : { status: { kind: 'blocked', because: blocker } };
    }
    const pinned = await session.pinner.pin(stage, id => results.get(id), look.moment);
    const held = hold?.of(stage, pinned.manifest);
    const locked = held === undefined ? undefined : await findLocked(session, stage, look.forced.has(stage.id), pinned, held);
    return { ...(locked ?? (await findResult(look, stage, pinned))), isWhole: true };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    // The build does not reach this error, because an earlier stage cannot start.
    if (blocker !== undefined) return { status: { kind: 'blocked', because: blocker } };
    return { status: { kind: 'impossible', failure: toFailure(error) } };
  }
}

/** The status of a stage with inputs that are not known yet. */
async function foresee(
  { session, forced, hold, moment, results, rivals }: Look,
  stage: PlannedStage,
  because: readonly StageId[],
): Promise<Found> {
  // Such a stage reads a summary of all stages before it, so nothing of its action is known.
  if (stage.plugin.plugin.needs === 'build-summary') return { status: { kind: 'undecided', because, changes: [] } };
  const known = withKnownInputs(stage, results);
  const pinned = await session.pinner.pin(known, id => results.get(id), moment);
  const comparison = await compareWithLast(session, stage, pinned.manifest);
  const changes = comparison.changes.filter(({ label, after }) => after !== undefined || !isOfUnknownInput(stage, label, results));
  if (forced.has(stage.id)) return { status: { kind: 'stale', reasons: ['forced'], changes, after: because }, pinned };
  // The cache may have locked outputs for any inputs.
  if (hold !== undefined || rivals.isRecorded(pinned.manifest)) return { status: { kind: 'undecided', because, changes }, pinned };
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

async function findResult({ session, forced }: Look, stage: PlannedStage, pinned: PinnedStage): Promise<Found> {
  const { changes, reasons } = await compareWithLast(session, stage, pinned.manifest);
  if (forced.has(stage.id)) return { status: { kind: 'stale', reasons: ['forced'], changes, after: [] }, pinned };
  const accepted = session.state.stages.get(stage.id);
  const isSame = accepted?.key === pinned.key;
  if (isSame && (await stands(session, stage, accepted))) return { ...upToDate, pinned };
  const kept = [...(isSame ? [accepted.outputs] : []), ...(await resultsOf(session, pinned.key)).map(result => result.outputs)];
  for (const artifacts of kept) {
    if (!(await isWhole(session, artifacts))) continue;
    return { status: { kind: 'restorable', reasons, changes }, pinned, result: { key: pinned.key, outputs: predict(artifacts) } };
  }
  return { status: { kind: 'stale', reasons, changes, after: [] }, pinned };
}

/** What a frozen build would do to end with the locked outputs; undefined if it continues like any build. */
async function findLocked(
  session: Session,
  stage: PlannedStage,
  forced: boolean,
  pinned: PinnedStage,
  held: StageHold,
): Promise<Found | undefined> {
  const accepted = session.state.stages.get(stage.id);
  const locked = forced ? [] : lockedResults(held);
  const isOurs = accepted !== undefined && heldActions(pinned, held).some(action => isResultOf(accepted, action));
  if (isOurs && findEqual(locked, accepted.outputs) !== undefined && (await stands(session, stage, accepted)))
    return { ...upToDate, pinned };
  for (const contents of locked) {
    const artifacts = await findArtifacts(session.store, contents);
    if (artifacts === undefined || !(await isWhole(session, artifacts))) continue;
    const result = { key: pinned.key, outputs: predict(artifacts) };
    return { status: { kind: 'restorable', reasons: ['as locked'], changes: [] }, pinned, result };
  }
  if (held.kind !== 'exactly') return undefined;
  const reasons = [forced ? 'forced' : 'what is locked is not in the cache'];
  const outputs = Object.entries(held.outputs).map(([port, content]) => [port, { ...content, sizeBytes: 0 }] as const);
  // The run must give the locked outputs, or it fails.
  return {
    status: { kind: 'stale', reasons, changes: [], after: [] },
    pinned,
    result: { key: pinned.key, outputs: predict(Object.fromEntries(outputs)) },
  };
}

async function stands(session: Session, stage: PlannedStage, accepted: AcceptedStage): Promise<boolean> {
  const { folder, names } = placeOf(session.plan, stage);
  if (findTouched(folder, accepted, names) === undefined) return true;
  return (await resign(folder, accepted, names)) !== undefined;
}

async function resultsOf({ records }: Session, key: string): Promise<readonly ActionResult[]> {
  const record = await records.find(key);
  return record === undefined || record === 'damaged' ? [] : [...record.results].reverse();
}

async function isWhole({ store }: Session, artifacts: Artifacts): Promise<boolean> {
  if (!(await haveStatedSizes(store, artifacts))) return false;
  for (const { kind, digest } of Object.values(artifacts)) {
    if ((await store.check(digest)) !== 'found') return false;
    const tree = kind === 'tree' ? decodeTree((await store.read(digest))?.toString() ?? '') : [];
    if (tree === undefined) return false;
    for (const entry of tree) if (entry.kind === 'file' && (await store.check(entry.digest)) !== 'found') return false;
  }
  return true;
}

function predict(artifacts: Artifacts): KnownResult['outputs'] {
  return Object.fromEntries(Object.entries(artifacts).map(([port, artifact]) => [port, { ...artifact, signature: '' }]));
}
