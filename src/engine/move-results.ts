/** Results moved between the local and a remote cache without a build: `push` sends those of the last build, `pull` fetches those of the next. */
import { openSession, type Session, withRemote } from './action/session.js';
import { flushState } from './action/session-warnings.js';
import { mayShare } from './execute/may-share.js';
import { differingPorts } from './model/artifact.js';
import { dependenciesOf, selectStages } from './model/dependencies.js';
import type { KnownResult } from './model/known-result.js';
import type { Plan, PlannedStage, StageId } from './model/plan.js';
import type { EnginePorts } from './model/ports.js';
import type { RemoteSummary } from './model/remote-summary.js';
import type { ActionResult } from './store/action-records.js';
import { readBlob } from './store/blob-store.js';
import { type CacheFolder, makeCacheFolder } from './store/cache-folder.js';
import { haveStatedSizes } from './store/find-artifacts.js';
import { blobsOf } from './store/maintenance/inventory.js';
import { withLock } from './store/maintenance/maintain-cache.js';
import { partsOf } from './store/part-list.js';
import type { RemoteUse } from './store/remote/remote-use.js';

export interface MovedResults {
  readonly remote: RemoteSummary;
  /** Stages whose results were moved, or were there already. */
  readonly done: readonly StageId[];
  /** Stages that have no result to move. */
  readonly without: readonly StageId[];
  /** Stages whose results stay on their machine: they are measured, have secrets, or use the network. */
  readonly kept: readonly StageId[];
  /** Stages whose results stay here, because another run of the same action gave other bytes. */
  readonly different: readonly StageId[];
  /** Number of parts that were fetched for further runs of the stages. */
  readonly parts: number;
}

interface Order {
  readonly plan: Plan;
  readonly targets: 'all' | readonly StageId[];
  readonly cache: CacheFolder;
  readonly use: RemoteUse;
}

const newMoves = () => ({ done: [] as StageId[], without: [] as StageId[], kept: [] as StageId[], different: [] as StageId[], parts: 0 });

/** Sends the accepted results of the targets and of what they depend on. */
export async function pushResults({ plan, targets, cache, use }: Order, ports: EnginePorts): Promise<MovedResults> {
  const session = await withRemote(openSession(plan, ports, cache, 'read'), use);
  const moved = newMoves();
  for (const stage of selectStages(plan, targets)) {
    const accepted = session.state.stages.get(stage.id);
    const record = accepted === undefined ? undefined : await session.records.find(accepted.key);
    const results = record === undefined || record === 'damaged' ? [] : record.results;
    const result = results.find(({ outputs }) => differingPorts(outputs, accepted?.outputs ?? {}).length === 0);
    if (!mayShare(stage)) moved.kept.push(stage.id);
    else if (accepted === undefined || result === undefined || record === undefined || record === 'damaged') moved.without.push(stage.id);
    else if (results.length > 1) moved.different.push(stage.id);
    else {
      session.remote?.offer(stage.id, accepted.key, record.manifest, result);
      moved.done.push(stage.id);
    }
  }
  return finish(session, moved, ports);
}

/**
 * Fetches the results that a build of the targets would need now. Artifacts are not published.
 * @param parts 'fetch': also the parts that the results were made of, and all parts of stages without a result, so that a changed stage is cheap.
 */
export async function pullResults(
  { plan, targets, cache, use }: Order,
  ports: EnginePorts,
  parts: 'fetch' | 'leave',
): Promise<MovedResults> {
  makeCacheFolder(cache);
  return withLock(cache, ports, async () => {
    const session = await withRemote(openSession(plan, ports, cache, 'write'), use);
    const known = new Map<StageId, KnownResult>();
    const moved = newMoves();
    for (const stage of selectStages(plan, targets)) {
      if (ports.signal.aborted) break;
      const found = await findKnown(session, stage, known);
      if (ports.signal.aborted) break;
      if (found !== undefined) known.set(stage.id, found);
      (found !== undefined ? moved.done : mayShare(stage) ? moved.without : moved.kept).push(stage.id);
      if (parts === 'fetch' && mayShare(stage)) moved.parts += await fetchParts(session, stage, found?.key);
    }
    flushState(session);
    return finish(session, moved, ports);
  });
}

/** @param key of the result; undefined if there is none. */
async function fetchParts(session: Session, stage: PlannedStage, key: string | undefined): Promise<number> {
  const record = key === undefined ? undefined : await session.records.find(key);
  const hasResult = record !== undefined && record !== 'damaged';
  const wanted = hasResult ? new Set(partsOf(record, digest => readBlob(session.cache, digest))) : 'all';
  if (wanted !== 'all' && wanted.size === 0) return 0;
  return (await session.remote?.bringParts(stage.id, stage.plugin.name, wanted)) ?? 0;
}

/** The result of a stage, from the local cache or the remote one; undefined if there is none, or none of a stage that it depends on. */
async function findKnown(
  session: Session,
  stage: PlannedStage,
  known: ReadonlyMap<StageId, KnownResult>,
): Promise<KnownResult | undefined> {
  if (dependenciesOf(stage).some(id => !known.has(id))) return undefined;
  const { key } = await session.pinner.pin(stage, id => known.get(id));
  const result = (await findWhole(session, key)) ?? (mayShare(stage) ? await session.remote?.bring(stage.id, key) : undefined);
  if (result === undefined) return undefined;
  const outputs = Object.entries(result.outputs).map(([port, artifact]) => [port, { ...artifact, signature: '' }] as const);
  return { key, outputs: Object.fromEntries(outputs) };
}

/** The newest local result whose blobs are all there and intact. Others are dropped, as a build drops them. */
async function findWhole(session: Session, key: string): Promise<ActionResult | undefined> {
  const { records } = session;
  const record = await records.find(key);
  for (const result of record === undefined || record === 'damaged' ? [] : [...record.results].reverse()) {
    if (await isWhole(session, result)) return result;
    await records.dropResult(key, result);
  }
  return undefined;
}

async function isWhole({ store, cache }: Session, result: ActionResult): Promise<boolean> {
  if (!(await haveStatedSizes(store, result.outputs))) return false;
  for (const digest of new Set(blobsOf(result, one => readBlob(cache, one)))) if ((await store.verify(digest)) !== 'found') return false;
  return true;
}

async function finish(session: Session, moved: Omit<MovedResults, 'remote'>, { signal }: EnginePorts): Promise<MovedResults> {
  const remote = await session.remote?.finish(signal);
  const dropped = new Set<string>(remote?.dropped);
  return {
    remote: remote ?? { ...NOTHING, address: '' },
    ...moved,
    done: moved.done.filter(id => !dropped.has(id)),
    without: [...moved.without, ...moved.done.filter(id => dropped.has(id))],
  };
}

const NOTHING: Omit<RemoteSummary, 'address'> = {
  hits: 0,
  misses: 0,
  uploads: 0,
  downloadedBytes: 0,
  uploadedBytes: 0,
  calls: 0,
  savedMs: 0,
  dropped: [],
  troubles: [],
  leftOut: false,
};
