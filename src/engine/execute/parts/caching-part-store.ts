/** The part store of a run that takes parts from the cache and stores those that it computes. */
import { join } from 'node:path';
import { type Digest, digestJson } from '../../../base/digest.js';
import { getDefined } from '../../../base/invariant.js';
import type { JsonObject } from '../../../base/json.js';
import type { CodeRoot } from '../../action/code/pinned-code.js';
import type { Artifact } from '../../model/artifact.js';
import { differingPorts } from '../../model/artifact.js';
import { messageOf } from '../../model/engine-error.js';
import type { PartAnswerKind, WarningCode } from '../../model/events.js';
import type { ActionResult } from '../../store/action-records.js';
import { digestPath } from '../../store/files/digest-file.js';
import { statPath } from '../../store/files/stamp.js';
import type { PartAnswer, PartQuestion } from '../worker/messages.js';
import { makePartManifest, nextTicket, type PartService, type RunPartStore } from './part-service.js';

export interface CachingRun {
  /** The plugin's declared `reads` belong to its parts too. */
  readonly plugin: CodeRoot;
  /** 'ignore': every part is computed again. */
  readonly kept: 'use' | 'ignore';
  /** Looks for a part on other machines. @returns whether it is now in the cache. */
  readonly bring?: ((key: string) => Promise<boolean>) | undefined;
  /** Computes a part on a remote worker. @returns its files, which are in the store; undefined if no worker could. */
  readonly computeRemotely?: ((question: PartQuestion) => Promise<RemotePart | undefined>) | undefined;
  readonly warn: (code: WarningCode, message: string) => void;
  /**
   * Returns the changed file if the stage's code has changed since the run began.
   * The run has loaded the older code, so its parts belong to no key.
   */
  readonly findChangedCode: () => Promise<string | undefined>;
  /** Called for each part when its answer is known. Times are from `performance.now()`. */
  readonly onPart: (part: { readonly name: string; readonly answer: PartAnswerKind }, startMs: number, endMs: number) => void;
}

/** Digests of the files of a part by name. */
export type RemotePart = Readonly<Record<string, { readonly hash: Digest; readonly sizeBytes: number }>>;

export function createCachingPartStore(service: PartService, run: CachingRun): RunPartStore {
  const state: PartStoreState = { service, run, claims: new Map(), used: new Set() };
  return {
    find: question => findPart(state, question),
    keep: (ticket, folder, names) => storeClaimed(state, ticket, folder, names),
    drop(ticket, why) {
      if (why !== '' && state.claims.has(ticket)) run.warn('part-not-kept', why);
      settle(state, ticket, 'dropped');
    },
    used: state.used,
    release() {
      for (const ticket of [...state.claims.keys()]) settle(state, ticket, 'dropped');
    },
  };
}

interface PartStoreState {
  readonly service: PartService;
  readonly run: CachingRun;
  /** The parts that the run has requested and not answered yet, by ticket. */
  readonly claims: Map<string, Claim>;
  readonly used: Set<string>;
}

interface Claim {
  readonly key: string;
  readonly name: string;
  readonly manifest: JsonObject;
  readonly startedMs: number;
  /** Lets other runs request the part. */
  readonly release: () => void;
}

/** Paths of a part's files by name. */
type PartFiles = Readonly<Record<string, string>>;

async function findPart(state: PartStoreState, question: PartQuestion): Promise<PartAnswer> {
  const { service, run } = state;
  const { name } = question;
  const manifest = await makePartManifest(service, question, run.plugin);
  const key = digestJson(manifest);
  for (let other = service.running.get(key); other !== undefined; other = service.running.get(key)) await other;
  const ticket = claimPart(state, { key, name, manifest });
  const files = run.kept === 'use' ? await findKept(state, key, name) : undefined;
  if (files === undefined) {
    const made = await run.computeRemotely?.(question);
    return made === undefined
      ? { kind: 'missing', ticket }
      : { kind: 'found', files: await keepMade(state, ticket, made), made: 'remotely' };
  }
  state.used.add(key);
  settle(state, ticket, 'kept');
  return { kind: 'found', files, made: 'earlier' };
}

/** Marks the part as being computed until its claim is settled. @returns the ticket of the claim. */
function claimPart({ service, claims }: PartStoreState, part: Pick<Claim, 'key' | 'name' | 'manifest'>): string {
  let resolve: () => void = () => undefined;
  const over = new Promise<void>(settled => {
    resolve = settled;
  });
  service.running.set(part.key, over);
  const release = (): void => {
    service.running.delete(part.key);
    resolve();
  };
  const ticket = nextTicket(service);
  claims.set(ticket, { ...part, startedMs: performance.now(), release });
  return ticket;
}

/** Removes the claim and reports its answer. A claim that is already settled stays as it is. */
function settle({ claims, run }: PartStoreState, ticket: string, answer: PartAnswerKind): void {
  const claimed = claims.get(ticket);
  if (claimed === undefined) return;
  claimed.release();
  claims.delete(ticket);
  run.onPart({ name: claimed.name, answer }, claimed.startedMs, performance.now());
}

async function findKept({ service, run }: PartStoreState, key: string, part: string): Promise<PartFiles | undefined> {
  const { records, cache } = service;
  let record = await records.find(key);
  if (record === undefined && (await run.bring?.(key)) === true) record = await records.find(key);
  if (record === undefined) return undefined;
  const result = record === 'damaged' ? undefined : record.results.at(-1);
  if (result !== undefined && (await isWhole(service, result))) {
    await records.noteUse(key);
    return Object.fromEntries(Object.entries(result.outputs).map(([name, { digest }]) => [name, cache.blob(digest)]));
  }
  run.warn('cache-damaged', `a cached result of part ${part} is damaged or incomplete; it is computed again`);
  if (result !== undefined) await records.dropResult(key, result);
  return undefined;
}

async function isWhole({ store }: PartService, result: ActionResult): Promise<boolean> {
  for (const { digest } of Object.values(result.outputs)) if ((await store.verify(digest)) !== 'found') return false;
  return true;
}

async function storeClaimed(state: PartStoreState, ticket: string, folder: string, names: readonly string[]): Promise<PartFiles> {
  const files = Object.fromEntries(names.map(name => [name, join(folder, name)]));
  await record(state, ticket, claimed => storePart(state, claimed, files));
  return files;
}

/** Records a part whose files are in the store. */
async function keepMade(state: PartStoreState, ticket: string, made: RemotePart): Promise<PartFiles> {
  const outputs: Record<string, Artifact> = {};
  for (const [name, { hash, sizeBytes }] of Object.entries(made)) outputs[name] = fileArtifact(hash, sizeBytes);
  await record(state, ticket, claimed => recordPart(state, claimed, outputs));
  return Object.fromEntries(Object.entries(made).map(([name, { hash }]) => [name, state.service.cache.blob(hash)]));
}

/** Keeps the result of a claimed part, unless the code has changed. What cannot be written is a warning. */
async function record(state: PartStoreState, ticket: string, keep: (claimed: Claim) => Promise<void>): Promise<void> {
  const { claims, run } = state;
  const claimed = getDefined(claims.get(ticket), ticket);
  const changed = await run.findChangedCode();
  if (changed !== undefined) {
    run.warn('part-not-kept', `${changed} changed while part ${claimed.name} was computed`);
    return settle(state, ticket, 'dropped');
  }
  try {
    await keep(claimed);
  } catch (error) {
    run.warn('cache-write-failed', `the result of a part cannot be written: ${messageOf(error)}`);
  }
  settle(state, ticket, 'computed');
}

function fileArtifact(digest: Digest, sizeBytes: number): Artifact {
  return { kind: 'file', digest, sizeBytes, executable: false };
}

/** Moves the files to the store and records the result. A file that is in the store has its path there in `files`. */
async function storePart(state: PartStoreState, claimed: Claim, files: Record<string, string>): Promise<void> {
  const { store, cache } = state.service;
  const outputs: Record<string, Artifact> = {};
  for (const [name, path] of Object.entries(files)) {
    const sizeBytes = statPath(path)?.sizeBytes ?? 0;
    const digest = await digestPath(path, sizeBytes);
    await store.takeFile(path, digest, 'no-flush');
    files[name] = cache.blob(digest);
    outputs[name] = fileArtifact(digest, sizeBytes);
  }
  await recordPart(state, claimed, outputs);
}

async function recordPart(
  { service, run, used }: PartStoreState,
  claimed: Claim,
  outputs: Readonly<Record<string, Artifact>>,
): Promise<void> {
  const { key, name: part, manifest, startedMs } = claimed;
  const other = await service.records.add(key, manifest, {
    outputs,
    metrics: undefined,
    log: undefined,
    durationMs: performance.now() - startedMs,
  });
  used.add(key);
  if (other === undefined) return;
  const ports = differingPorts(other.outputs, outputs).join(', ');
  run.warn('non-deterministic', `part ${part} gave different bytes than before for equal inputs: ${ports}`);
}
