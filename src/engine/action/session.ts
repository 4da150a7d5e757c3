/** The session of a build or query: the opened cache and everything that reads it. */
import { isAbsolute } from 'node:path';
import type { Digest } from '../../base/digest.js';
import type { JsonObject } from '../../base/json.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import { artifactFolder, artifactName } from '../model/artifact-path.js';
import { EngineError } from '../model/engine-error.js';
import type { Plan, PlannedStage, StageId } from '../model/plan.js';
import type { EnginePorts } from '../model/ports.js';
import { createWrittenCheck } from '../planning/written-places.js';
import type { ActionRecords } from '../store/action-records.js';
import type { BlobStore } from '../store/blob-store.js';
import type { CacheFolder } from '../store/cache-folder.js';
import { createInputDigests } from '../store/input-digests.js';
import type { PlatformClass } from '../store/platform-class-cache.js';
import { createPlatformClass } from '../store/platform-class-cache.js';
import { findTouched } from '../store/published.js';
import { openPublishedNames, type PublishedNames } from '../store/published-names.js';
import type { RemoteResults } from '../store/remote/remote-results.js';
import type { RemoteUse } from '../store/remote/remote-use.js';
import { openStores } from '../store/shared-cache.js';
import type { State } from '../store/state.js';
import type { LoadedState, StateWriter, Trust } from '../store/state-log.js';
import { distrustStamps, loadState, openStateWriter } from '../store/state-log.js';
import type { Change } from './changes.js';
import { findChanges } from './changes.js';
import type { CodeDigests } from './code/code-digest.js';
import { createCodeDigests } from './code/code-digest.js';
import { describeChangeOf } from './input-of.js';
import { asLocked, keyOf, quickKeyOf } from './manifest.js';
import type { Pinner } from './pin-stage.js';
import { createPinner, newObservations } from './pin-stage.js';
import type { PinnedStage } from './pinned-stage.js';

export interface Session {
  readonly plan: Plan;
  readonly ports: EnginePorts;
  readonly cache: CacheFolder;
  readonly state: State;
  readonly loaded: LoadedState;
  readonly store: BlobStore;
  readonly records: ActionRecords;
  readonly code: CodeDigests;
  readonly platformClass: PlatformClass;
  readonly pinner: Pinner;
  /** Code digests whose documents are known to be in the store. */
  readonly noted: Set<Digest>;
  /** Names that builds have published under artifacts/. */
  readonly published: PublishedNames;
  /** Defined only for a session that may write. */
  readonly writer: StateWriter | undefined;
  /** Defined only in a build with a remote cache. */
  readonly remote: RemoteResults | undefined;
}

/** The parts that stay the same when a session switches to a newer plan. */
type Opened = Pick<Session, 'ports' | 'cache' | 'loaded' | 'writer' | 'noted' | 'published'> & {
  readonly remote?: RemoteResults | undefined;
};

/** Opens the cache. 'write' is allowed only under the lock. */
export function openSession(
  plan: Plan,
  ports: EnginePorts,
  cache: CacheFolder,
  access: 'read' | 'write',
  trust: Trust = 'stamps',
): Session {
  const found = loadState(cache.state(plan.pipeline));
  const loaded = trust === 'stamps' ? found : distrustStamps(found);
  const writer = access === 'write' ? openStateWriter(cache.state(plan.pipeline), loaded) : undefined;
  const published = openPublishedNames(`${plan.projectFolder}/artifacts`);
  return sessionOf(plan, { ports, cache, loaded, writer, noted: new Set(), published });
}

/** The session with a remote cache, whose results come into the session's own cache. */
export async function withRemote(session: Session, use: RemoteUse | undefined): Promise<Session> {
  if (use === undefined) return session;
  const { openRemoteResults } = await import('../store/remote/remote-results.js');
  const { unlessStopped } = await import('../store/remote/unless-stopped.js');
  const { emit, signal } = session.ports;
  const warn = (message: string): void => {
    if (!signal.aborted) emit({ kind: 'warning', stage: undefined, code: 'remote-cache-failed', message });
  };
  return { ...session, remote: unlessStopped(openRemoteResults(session, use, warn), signal) };
}

/** Returns the same state under a newer plan of the same pipeline. Code and tools are observed again. */
export function switchPlan(session: Session, plan: Plan): Session {
  return sessionOf(plan, session);
}

function sessionOf(plan: Plan, { ports, cache, loaded, writer, noted, published, remote }: Opened): Session {
  const { state } = loaded;
  const access = writer === undefined ? 'read' : 'write';
  const code = createCodeDigests(ports.installRoot, state, (module, stamped) => {
    if (writer === undefined) state.code.set(module, stamped);
    else writer.stampCode(module, stamped);
  });
  const platformClass = createPlatformClass(cache, ports.platformClass, access === 'read' ? 'read-only' : 'keep');
  const digests = createInputDigests(state, {
    resolve: path => (isAbsolute(path) ? path : `${plan.projectFolder}/${path}`),
    findWritten: writtenCheckOf(plan, cache),
    remember: (path, stamp, digest) => {
      if (writer === undefined) state.files.set(path, { stamp, digest });
      else writer.stampFile(path, { stamp, digest });
    },
  });
  const pinner = createPinner({ plan, digests, code, platformClass, environment: ports.environment, devices: state.devices });
  return {
    plan,
    ports,
    cache,
    state,
    loaded,
    ...openStores(cache, access, ports.artifacts === 'links' ? 'copies' : 'links', warnOfSharedCache(ports)),
    code,
    platformClass,
    pinner,
    noted,
    published,
    writer,
    remote,
  };
}

function warnOfSharedCache({ emit }: EnginePorts): (message: string) => void {
  return message => emit({ kind: 'warning', stage: undefined, code: 'shared-cache-failed', message });
}

/** The check is made when the first source is read, because a no-op build needs none. */
function writtenCheckOf(plan: Plan, cache: CacheFolder): ReturnType<typeof createWrittenCheck> {
  let check: ReturnType<typeof createWrittenCheck> | undefined;
  return path => {
    check ??= createWrittenCheck({
      projectFolder: plan.projectFolder,
      stageFolders: new Set([...plan.stages.values()].map(stage => artifactFolder(plan, stage))),
      caches: [cache, cache.shared].flatMap(one => (one === undefined ? [] : [one.root])),
    });
    return check(path);
  };
}

/** Returns the absolute path of the stage's folder under artifacts/, and the names in it by port. */
export function placeOf(plan: Plan, stage: PlannedStage): { readonly folder: string; readonly names: Readonly<Record<string, string>> } {
  const names: Record<string, string> = {};
  for (const port of Object.keys(stage.outputPorts)) names[port] = artifactName(stage, port);
  return { folder: `${plan.projectFolder}/${artifactFolder(plan, stage)}`, names };
}

/**
 * Returns the stages that stamps alone prove up to date, with their accepted results. It does not read content, write or wait.
 * All other stages need a full check. `observations` receives everything that was observed.
 */
export function findSettled(
  session: Session,
  selected: readonly PlannedStage[],
  forced: ReadonlySet<StageId>,
  observations = newObservations(),
  proves: Proof = isResultOf,
): ReadonlyMap<StageId, AcceptedStage> {
  const settled = new Map<StageId, AcceptedStage>();
  const find = (stage: PlannedStage) => session.pinner.find(stage, id => settled.get(id), observations);
  for (const stage of selected) {
    const accepted = session.state.stages.get(stage.id);
    if (accepted === undefined || forced.has(stage.id) || !hasSettledInputs(stage, settled)) continue;
    if (!hasAction(stage, accepted, find, proves)) continue;
    const { folder, names } = placeOf(session.plan, stage);
    if (findTouched(folder, accepted, names) === undefined) settled.set(stage.id, accepted);
  }
  return settled;
}

function hasSettledInputs(stage: PlannedStage, settled: ReadonlyMap<StageId, AcceptedStage>): boolean {
  for (const binding of Object.values(stage.inputs)) {
    const refs = binding.kind === 'record' ? Object.values(binding.entries) : [binding];
    for (const ref of refs) if (ref.kind === 'artifact' && !settled.has(ref.stage)) return false;
  }
  return true;
}

/** Whether an accepted result belongs to this action. If it throws EngineError, it does not. */
export type Proof = (accepted: AcceptedStage, pinned: PinnedStage, stage: PlannedStage) => boolean;

export function isResultOf(accepted: AcceptedStage, pinned: PinnedStage): boolean {
  return quickKeyOf(pinned.manifest) === accepted.quickKey || pinned.key === accepted.key;
}

/** A stage whose inputs cannot be read is not settled. The problem is reported when the stage is built. */
function hasAction(
  stage: PlannedStage,
  accepted: AcceptedStage,
  find: (stage: PlannedStage) => PinnedStage | undefined,
  proves: Proof,
): boolean {
  try {
    const pinned = find(stage);
    return pinned !== undefined && proves(accepted, pinned, stage);
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

export interface Comparison {
  /** 'never': no result was accepted yet. 'lost': its record is no longer in the cache. */
  readonly last: 'known' | 'never' | 'lost';
  readonly changes: readonly Change[];
  readonly reasons: readonly string[];
}

/** Compares an action with the one whose result was accepted last. */
export async function compareWithLast(session: Session, stage: PlannedStage, manifest: JsonObject): Promise<Comparison> {
  const accepted = session.state.stages.get(stage.id);
  if (accepted === undefined) return { last: 'never', changes: [], reasons: ['never built'] };
  const record = await session.records.find(accepted.key);
  if (record === undefined || record === 'damaged') {
    const fromLock = accepted.key === keyOf(asLocked(manifest));
    const why = fromLock
      ? 'its result comes from the lock file, and was not made here'
      : 'the record of its last run is missing from the cache';
    return { last: 'lost', changes: [], reasons: [why] };
  }
  const changes = findChanges(record.manifest, manifest);
  const unchanged =
    session.remote?.use.local === 'ignored'
      ? 'the remote cache has no result of it, and those of this machine do not count'
      : 'its published outputs were changed';
  const reasons = changes.length === 0 ? [unchanged] : changes.map(one => describeChangeOf(stage, one));
  return { last: 'known', changes, reasons };
}
