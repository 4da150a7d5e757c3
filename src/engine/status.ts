/** What would a build do, and why? Looks as a build does, and changes nothing. */
import { join } from 'node:path';
import type { JsonObject } from '../base/json.js';
import type { Change } from './action/changes.js';
import type { ActionResult } from './cache/action-records.js';
import type { Artifacts } from './cache/artifact.js';
import { cacheFolderAt } from './cache/cache-folder.js';
import type { AcceptedStage, KnownDevice } from './cache/state-log.js';
import { decodeTree } from './cache/tree.js';
import { EngineError } from './engine-error.js';
import type { Failure } from './failure.js';
import { toFailure } from './failure.js';
import type { Hold, StageHold } from './lockfile/hold.js';
import { findEqual, lockedResults } from './lockfile/hold.js';
import type { LockFile } from './lockfile/lock-path.js';
import { findTouched, resign } from './output/publish.js';
import { dependenciesOf, selectStages } from './plan/dependencies.js';
import type { Plan, PlannedStage, StageId } from './plan/plan.js';
import type { EnginePorts } from './ports.js';
import { findArtifacts } from './run/end-as-locked.js';
import type { KnownResult } from './run/known-result.js';
import { findDevice, type PinnedStage, pinLocked } from './run/pin-stage.js';
import type { Session } from './run/session.js';
import { compareWithLast, findSettled, isResultOf, openSession, placeOf } from './run/session.js';

export type StageStatus =
  | { readonly kind: 'up-to-date' }
  /** A result for exactly these inputs is in the cache. */
  | { readonly kind: 'restorable'; readonly reasons: readonly string[]; readonly changes: readonly Change[] }
  /** A build would run it. */
  | { readonly kind: 'stale'; readonly reasons: readonly string[]; readonly changes: readonly Change[] }
  /** It depends on stages that would run: whether it runs too is known when their outputs are. */
  | { readonly kind: 'undecided'; readonly because: readonly StageId[] }
  /** It cannot start: an input is missing or unreadable. */
  | { readonly kind: 'impossible'; readonly failure: Failure };

export interface StatusOptions {
  readonly targets: 'all' | readonly StageId[];
  readonly force: 'targets' | 'never';
  readonly cacheFolder?: string;
  readonly sharedCache?: string | undefined;
  /** The lock, where a frozen build is asked about. */
  readonly lock?: LockFile;
}

export interface Examined {
  readonly status: StageStatus;
  /** Absent where an input is not known. */
  readonly manifest: JsonObject | undefined;
  readonly accepted: AcceptedStage | undefined;
  /** What is known of the device that the stage measures on, from the last time that it was started. */
  readonly device: KnownDevice | undefined;
}

/**
 * Every selected stage in the plan's order: its status, and what is known of its action. This is also the dry run of a build with the same options.
 * @throws LockRefused where a frozen build would be refused.
 */
export async function examineStages(plan: Plan, options: StatusOptions, ports: EnginePorts): Promise<ReadonlyMap<StageId, Examined>> {
  const cache = cacheFolderAt(options.cacheFolder ?? join(plan.projectFolder, 'cache'), options.sharedCache);
  const session = openSession(plan, ports, cache, 'read');
  const selected = selectStages(plan, options.targets);
  const forced = new Set(options.force === 'never' ? [] : options.targets === 'all' ? selected.map(({ id }) => id) : options.targets);
  const frozen = options.lock === undefined ? undefined : await import('./lockfile/frozen-build.js');
  const hold = options.lock === undefined ? undefined : await frozen?.holdToLock(session, options.lock, selected);
  const settled = findSettled(session, selected, forced, undefined, hold === undefined ? undefined : frozen?.provesHeld(hold));
  const results = new Map<StageId, KnownResult>();
  const examined = new Map<StageId, Examined>();
  for (const stage of selected) {
    const accepted = session.state.stages.get(stage.id);
    const found = settled.has(stage.id) ? upToDate : await examine(session, stage, forced.has(stage.id), results, hold);
    const device = findDevice(stage, session.state.devices);
    examined.set(stage.id, { status: found.status, manifest: found.pinned?.manifest, accepted, device });
    const known = found.status.kind === 'up-to-date' ? accepted : found.result;
    if (known !== undefined) results.set(stage.id, known);
  }
  return examined;
}

interface Found {
  readonly status: StageStatus;
  readonly pinned?: PinnedStage;
  /** Where they are known before the build. */
  readonly result?: KnownResult;
}

const upToDate: Found = { status: { kind: 'up-to-date' } };

async function examine(
  session: Session,
  stage: PlannedStage,
  forced: boolean,
  results: ReadonlyMap<StageId, KnownResult>,
  hold: Hold | undefined,
): Promise<Found> {
  const because = dependenciesOf(stage).filter(id => !results.has(id));
  if (because.length > 0) return { status: { kind: 'undecided', because } };
  try {
    const pinned = await session.pinner.pin(stage, id => results.get(id));
    const held = hold?.of(stage, pinned.manifest);
    const locked = held === undefined ? undefined : await findLocked(session, stage, forced, pinned, held);
    return locked ?? (await findResult(session, stage, forced, pinned));
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { status: { kind: 'impossible', failure: toFailure(error) } };
  }
}

async function findResult(session: Session, stage: PlannedStage, forced: boolean, pinned: PinnedStage): Promise<Found> {
  const { changes, reasons } = compareWithLast(session, stage, pinned.manifest);
  if (forced) return { status: { kind: 'stale', reasons: ['forced'], changes }, pinned };
  const accepted = session.state.stages.get(stage.id);
  const isSame = accepted?.key === pinned.key;
  if (isSame && (await stands(session, stage, accepted))) return { ...upToDate, pinned };
  const kept = [...(isSame ? [accepted.outputs] : []), ...resultsOf(session, pinned.key).map(result => result.outputs)];
  for (const artifacts of kept) {
    if (!(await isWhole(session, artifacts))) continue;
    return { status: { kind: 'restorable', reasons, changes }, pinned, result: { key: pinned.key, outputs: predict(artifacts) } };
  }
  return { status: { kind: 'stale', reasons, changes }, pinned };
}

/** What a frozen build would do to end with what is locked; undefined where it goes on as any build does. */
async function findLocked(
  session: Session,
  stage: PlannedStage,
  forced: boolean,
  pinned: PinnedStage,
  held: StageHold,
): Promise<Found | undefined> {
  const accepted = session.state.stages.get(stage.id);
  const locked = forced ? [] : lockedResults(held);
  const isOurs = accepted !== undefined && (isResultOf(accepted, pinned) || isResultOf(accepted, pinLocked(pinned)));
  if (isOurs && findEqual(locked, accepted.outputs) !== undefined && (await stands(session, stage, accepted)))
    return { ...upToDate, pinned };
  for (const contents of locked) {
    const artifacts = findArtifacts(session.store, contents);
    if (artifacts === undefined || !(await isWhole(session, artifacts))) continue;
    const result = { key: pinned.key, outputs: predict(artifacts) };
    return { status: { kind: 'restorable', reasons: ['as locked'], changes: [] }, pinned, result };
  }
  if (held.kind !== 'exactly') return undefined;
  const reasons = [forced ? 'forced' : 'what is locked is not in the cache'];
  const outputs = Object.entries(held.outputs).map(([port, content]) => [port, { ...content, sizeBytes: 0 }] as const);
  // It must give what is locked, or it fails.
  return {
    status: { kind: 'stale', reasons, changes: [] },
    pinned,
    result: { key: pinned.key, outputs: predict(Object.fromEntries(outputs)) },
  };
}

async function stands(session: Session, stage: PlannedStage, accepted: AcceptedStage): Promise<boolean> {
  const { folder, names } = placeOf(session.plan, stage);
  if (findTouched(folder, accepted, names) === undefined) return true;
  return (await resign(folder, accepted, names)) !== undefined;
}

function resultsOf({ records }: Session, key: string): readonly ActionResult[] {
  const record = records.find(key);
  return record === undefined || record === 'damaged' ? [] : [...record.results].reverse();
}

async function isWhole({ store }: Session, artifacts: Artifacts): Promise<boolean> {
  for (const { kind, digest } of Object.values(artifacts)) {
    if ((await store.check(digest)) !== 'found') return false;
    const tree = kind === 'tree' ? decodeTree(store.read(digest)?.toString() ?? '') : [];
    if (tree === undefined) return false;
    for (const entry of tree) if (entry.kind === 'file' && (await store.check(entry.digest)) !== 'found') return false;
  }
  return true;
}

function predict(artifacts: Artifacts): KnownResult['outputs'] {
  return Object.fromEntries(Object.entries(artifacts).map(([port, artifact]) => [port, { ...artifact, signature: '' }]));
}
