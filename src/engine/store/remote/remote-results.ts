/**
 * Results that a build takes from a remote cache, and gives to it.
 * Whatever goes wrong is a miss with one warning, unless the build requires the cache. A server that fails again and again is left out.
 */
import PQueue from 'p-queue';
import { type Digest, digestBytes } from '../../../base/digest.js';
import type { JsonObject } from '../../../base/json.js';
import { isTrouble, RemoteError } from '../../../remote/error/remote-error.js';
import { EngineError, messageOf } from '../../model/engine-error.js';
import type { RemoteSummary } from '../../model/remote-summary.js';
import type { ActionResult } from '../action-records.js';
import { bringBlobs } from './bring-blobs.js';
import { drain } from './drain.js';
import { findResult } from './fetch-result.js';
import type { Pack } from './part-index.js';
import type { RemoteContent } from './remote-content.js';
import { fetchIndex, fetchPack, sendParts } from './remote-parts.js';
import type { LocalStores, RemoteUse } from './remote-use.js';
import { sendResult } from './send-result.js';

export interface RemoteResults {
  readonly use: RemoteUse;
  /**
   * Brings the result of an action into the local cache, complete and verified. The remote cache is asked once per key.
   * 'digests': the server has everything, and nothing is brought. `bringLeft` may bring it later.
   * @throws EngineError `remote-failed` if the cache is required and there is trouble.
   */
  bring(stage: string, key: string, what?: 'content' | 'digests'): Promise<ActionResult | undefined>;
  /** Brings what was left. @returns undefined if the server no longer gives it: then the key counts as a miss. Trouble is a warning. */
  bringLeft(stage: string, key: string): Promise<ActionResult | undefined>;
  /** Notes a result whose outputs are on the server alone. `bringLeft` may bring it later. */
  leave(key: string, manifest: JsonObject, result: ActionResult, content: RemoteContent): void;
  /** The tree document of an output that was left; undefined if there is none. */
  leftTree(digest: Digest): string | undefined;
  /** Brings a part of a stage into the local cache, with others of its pack. @returns whether it is there. Never throws for trouble. */
  bringPart(stage: string, plugin: string, key: string): Promise<boolean>;
  /**
   * Brings the packs with these parts of a stage, or all, into the local cache. Trouble is a warning.
   * @returns the number of parts in the packs that came.
   */
  bringParts(stage: string, plugin: string, wanted: ReadonlySet<string> | 'all'): Promise<number>;
  /** Sends a result beside the build, and then its parts. They are read from the local cache. */
  offer(stage: string, key: string, manifest: JsonObject, result: ActionResult): void;
  /** Results of these stages wait until their reproduction is known. */
  hold(stages: Iterable<string>): void;
  release(stage: string, verdict: 'send' | 'drop'): void;
  /** Waits for what is going up; after an abort for at most 5 s. */
  finish(signal: AbortSignal): Promise<RemoteSummary>;
  /** Number of results that are still going up. */
  pending(): number;
}

/** After this many failures the server is left out. */
const MOST_FAILURES = 3;

const UPLOADS_AT_ONCE = 4;

interface State {
  readonly local: LocalStores;
  readonly use: RemoteUse;
  readonly warn: (message: string) => void;
  readonly asked: Map<string, Promise<ActionResult | undefined>>;
  /** Results that were found and not brought, by key. */
  readonly left: Map<string, () => Promise<ActionResult>>;
  /** Content of results that were made by workers and not brought, by key. */
  readonly leftContent: Map<string, RemoteContent>;
  /** Tree documents of what was left, by digest. */
  readonly leftTrees: Map<Digest, string>;
  /** Indexes of packs by stage and plugin, and packs by digest. */
  readonly indexes: Map<string, Promise<ReadonlyMap<string, Pack>>>;
  readonly packs: Map<string, Promise<boolean>>;
  readonly uploads: PQueue;
  /** Stages whose results are going up. */
  readonly sending: Map<string, string>;
  readonly held: Map<string, (() => void)[]>;
  readonly troubles: string[];
  readonly dropped: Set<string>;
  failures: number;
  /** Number of entries without a signature that counts. */
  unsigned: number;
  leftOut: boolean;
  hits: number;
  misses: number;
  sent: number;
  savedMs: number;
}

export function openRemoteResults(local: LocalStores, use: RemoteUse, warn: (message: string) => void): RemoteResults {
  const state: State = {
    local,
    use,
    warn,
    asked: new Map(),
    left: new Map(),
    leftContent: new Map(),
    leftTrees: new Map(),
    indexes: new Map(),
    packs: new Map(),
    uploads: new PQueue({ concurrency: UPLOADS_AT_ONCE }),
    sending: new Map(),
    held: new Map(),
    troubles: [],
    dropped: new Set(),
    failures: 0,
    unsigned: 0,
    leftOut: false,
    hits: 0,
    misses: 0,
    sent: 0,
    savedMs: 0,
  };
  return {
    use,
    bringLeft: (stage, key) => bringLeft(state, stage, key),
    async bring(stage, key, what = 'content') {
      if (!use.read) return undefined;
      if (state.leftOut)
        return use.need === 'required' ? Promise.reject(required(state, 'it is left out after earlier trouble')) : undefined;
      const asked = state.asked.get(key) ?? lookUp(state, stage, key, what);
      state.asked.set(key, asked);
      // Another stage with an equal action may have left it.
      return what === 'content' && state.left.has(key) ? bringLeft(state, stage, key) : asked;
    },
    leave: (...left) => leave(state, ...left),
    leftTree: digest => state.leftTrees.get(digest),
    bringPart: (stage, plugin, key) => bringPart(state, stage, plugin, key),
    bringParts: (stage, plugin, wanted) => bringParts(state, stage, plugin, wanted),
    offer(stage, key, manifest, result) {
      if (!use.write || state.leftOut) return;
      const send = (): void => startUpload(state, stage, key, manifest, result);
      const waiting = state.held.get(stage);
      if (waiting === undefined) send();
      else waiting.push(send);
    },
    hold(stages) {
      for (const stage of stages) state.held.set(stage, []);
    },
    release(stage, verdict) {
      const waiting = state.held.get(stage) ?? [];
      state.held.delete(stage);
      if (verdict === 'send') for (const send of waiting) send();
    },
    finish: signal => finish(state, signal),
    pending: () => state.sending.size,
  };
}

async function bringLeft(state: State, stage: string, key: string): Promise<ActionResult | undefined> {
  const work = state.left.get(key);
  if (work === undefined) return state.asked.get(key);
  state.left.delete(key);
  const brought = work().catch((error: unknown) => {
    noteTrouble(state, `the result of ${stage} is gone from the remote cache ${state.use.address}`, error);
    return undefined;
  });
  state.asked.set(key, brought);
  return brought;
}

function leave(state: State, key: string, manifest: JsonObject, result: ActionResult, content: RemoteContent): void {
  const { use, local } = state;
  for (const [digest, document] of content.documents) state.leftTrees.set(digest, document);
  state.leftContent.set(key, content);
  state.asked.set(key, Promise.resolve(result));
  state.left.set(key, async () => {
    await bringBlobs(
      use.cache,
      local,
      [...content.blobs].map(([hash, sizeBytes]) => ({ hash, sizeBytes })),
    );
    for (const document of content.documents.values()) await local.store.storeBytes(document, 'no-flush');
    await local.records.merge(key, { manifest, results: [result] });
    return result;
  });
}

async function lookUp(state: State, stage: string, key: string, what: 'content' | 'digests'): Promise<ActionResult | undefined> {
  try {
    const found = await findResult(state, key);
    if (found !== undefined && what === 'digests') {
      state.left.set(key, found.bring);
      for (const document of found.documents) state.leftTrees.set(digestBytes(document), document);
    }
    const result = found !== undefined && what === 'content' ? await found.bring() : found?.result;
    if (result === undefined) state.misses++;
    else {
      state.hits++;
      state.savedMs += result.durationMs;
    }
    return result;
  } catch (error) {
    state.misses++;
    noteTrouble(state, `no result of ${stage} from the remote cache ${state.use.address}`, error);
    if (state.use.need === 'required') throw required(state, error);
    return undefined;
  }
}

async function bringPart(state: State, stage: string, plugin: string, key: string): Promise<boolean> {
  if (!state.use.read || state.leftOut) return false;
  const pack = (await indexOf(state, stage, plugin)).get(key);
  return pack === undefined ? false : bringPack(state, stage, pack);
}

async function bringParts(state: State, stage: string, plugin: string, wanted: ReadonlySet<string> | 'all'): Promise<number> {
  if (!state.use.read || state.leftOut) return 0;
  const byPart = await indexOf(state, stage, plugin);
  const packs = new Set([...byPart].flatMap(([key, pack]) => (wanted === 'all' || wanted.has(key) ? [pack] : [])));
  let count = 0;
  for (const pack of packs) if (await bringPack(state, stage, pack)) count += pack.parts.length;
  return count;
}

function indexOf(state: State, stage: string, plugin: string): Promise<ReadonlyMap<string, Pack>> {
  const name = JSON.stringify([stage, plugin]);
  const fetched = () => withTrouble(state, stage, fetchIndex(state, stage, plugin).then(packsByPart), new Map<string, Pack>());
  const index = state.indexes.get(name) ?? fetched();
  state.indexes.set(name, index);
  return index;
}

function bringPack(state: State, stage: string, pack: Pack): Promise<boolean> {
  const brought = state.packs.get(pack.blob.hash) ?? withTrouble(state, stage, fetchPack(state, pack), false);
  state.packs.set(pack.blob.hash, brought);
  return brought;
}

async function withTrouble<T>(state: State, stage: string, work: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    noteTrouble(state, `no parts of ${stage} from the remote cache ${state.use.address}`, error);
    return otherwise;
  }
}

function packsByPart(packs: readonly Pack[]): ReadonlyMap<string, Pack> {
  return new Map(packs.flatMap(pack => pack.parts.map(key => [key, pack] as const)));
}

function required({ use }: State, error: unknown): EngineError {
  return new EngineError('remote-failed', `the remote cache ${use.address} is required and failed: ${use.mask(messageOf(error))}`, {
    help: 'repair the connection, or build without --require-remote',
  });
}

/** One line per trouble. The line of the last one says that the server is left out. */
function noteTrouble(state: State, what: string, error: unknown): void {
  if (state.leftOut) return;
  // A server may hold results of many writers: one line says that some do not count.
  if (error instanceof RemoteError && error.code === 'remote-unsigned' && state.unsigned++ > 0) return;
  const { use, warn, troubles } = state;
  const message = `${what}: ${use.mask(messageOf(error))}`;
  // A server that has evicted a blob works as it should.
  if (!isTrouble(error, 'missing')) state.failures++;
  state.leftOut = state.failures >= MOST_FAILURES || isTrouble(error, 'refused');
  troubles.push(message);
  warn(state.leftOut ? `${message}; the remote cache is left out for the rest of this build` : message);
}

function startUpload(state: State, stage: string, key: string, manifest: JsonObject, result: ActionResult): void {
  state.sending.set(key, stage);
  const upload = async (): Promise<void> => {
    if (state.leftOut) return void state.dropped.add(stage);
    try {
      if (await sendResult(state, key, manifest, result, state.leftContent.get(key))) state.sent++;
      else state.dropped.add(stage);
      if (result.parts !== undefined && typeof manifest.plugin === 'string') await sendParts(state, stage, manifest.plugin, result);
    } catch (error) {
      state.dropped.add(stage);
      noteTrouble(state, `the result of ${stage} did not go to the remote cache ${state.use.address}`, error);
    }
  };
  void state.uploads.add(upload).finally(() => state.sending.delete(key));
}

async function finish(state: State, signal: AbortSignal): Promise<RemoteSummary> {
  const { uploads, sending, dropped, use } = state;
  await drain(uploads, signal);
  for (const stage of sending.values()) dropped.add(stage);
  for (const [stage, waiting] of state.held) if (waiting.length > 0) dropped.add(stage);
  uploads.clear();
  const { downloadedBytes, uploadedBytes, calls } = use.cache.traffic;
  const { hits, misses, savedMs, troubles, leftOut } = state;
  const summary = { address: use.address, hits, misses, uploads: state.sent, downloadedBytes, uploadedBytes, calls, savedMs };
  return { ...summary, dropped: [...dropped], troubles: [...troubles], leftOut };
}
