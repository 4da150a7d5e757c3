/** The worker's side of `context.memo`: a part is found in the cache, or computed and stored. The engine owns the store. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Digest } from '../../../base/digest.js';
import type { JsonObject } from '../../../base/json.js';
import type { Context, Part, PartJob, PartRequest, PartResult } from '../../../stage/context.js';
import { makeTurns } from '../../../stage/in-turn.js';
import { StageError } from '../../../stage/stage-error.js';
import { digestPath } from '../../store/files/digest-file.js';
import { isRacy, statPath } from '../../store/files/stamp.js';
import { isInnerPath } from '../../store/files/tree.js';
import type { PartAnswer, PartQuestion } from './messages.js';

/** The engine's side of parts. */
export interface PartStore {
  find(question: PartQuestion): Promise<PartAnswer>;
  /** Stores the files. Returns their paths, which are valid while the stage runs. */
  keep(ticket: string, folder: string, names: readonly string[]): Promise<Readonly<Record<string, string>>>;
  drop(ticket: string, why: string): void;
}

interface BlobDigest {
  readonly stamp: string;
  readonly digest: Digest;
  readonly proof: 'settled' | 'racy';
}

/** Where the result of a part comes from: an earlier run, a remote worker, or this process. */
export type PartOrigin = 'earlier' | 'remotely' | 'here';

/** Computes a part. @returns the names of its files, which are in the folder of the job. */
export type ComputePart = <Input extends JsonObject>(part: Part<Input>, job: PartJob<Input>) => Promise<readonly string[]>;

/** Computes parts in this process, one after the other: they share sessions and memory. */
export function computeInTurn(): ComputePart {
  const inTurn = makeTurns();
  return (part, job) => inTurn(() => part.run(job));
}

/** Returns `memo` of a stage's context. Parts write to `folder`; `known` has digests of inputs by path. `count` is called for each result. */
export function createMemo(
  partStore: PartStore,
  folder: string,
  known: ReadonlyMap<string, { readonly stamp: string; readonly digest: Digest }>,
  context: Pick<Context, 'signal' | 'log'>,
  count: (part: string, made: PartOrigin) => void,
  compute: ComputePart = computeInTurn(),
): Context['memo'] {
  const digests = new Map<string, BlobDigest>([...known].map(([path, entry]) => [path, { ...entry, proof: 'settled' }]));
  let runs = 0;
  /** A stage may ask for thousands of parts at once, and each open file takes memory. */
  const digestInTurn = makeTurns();

  const digestBlob = async (role: string, path: string): Promise<BlobDigest> => {
    const stat = statPath(path);
    if (stat?.kind !== 'file') throw new StageError('part-blob-missing', `blob "${role}" of a part is not a file: ${path}`);
    const kept = digests.get(path);
    if (kept?.stamp === stat.stamp) return kept;
    const takenMs = Date.now();
    const digest = await digestPath(path, stat.sizeBytes);
    const entry: BlobDigest = { stamp: stat.stamp, digest, proof: isRacy(stat, takenMs) ? 'racy' : 'settled' };
    digests.set(path, entry);
    return entry;
  };

  /** Returns the role of a blob that has changed since it was digested; undefined if none has. */
  const findChanged = async (
    blobs: Readonly<Record<string, string>>,
    before: ReadonlyMap<string, BlobDigest>,
  ): Promise<string | undefined> => {
    for (const [role, entry] of before) {
      const path = blobs[role] ?? '';
      const stat = statPath(path);
      if (stat?.stamp !== entry.stamp) return role;
      if (entry.proof === 'racy' && (await digestPath(path, stat.sizeBytes)) !== entry.digest) return role;
    }
    return undefined;
  };

  return async <Input extends JsonObject>(part: Part<Input>, request: PartRequest<Input>): Promise<PartResult> => {
    context.signal.throwIfAborted();
    const blobs = new Map<string, BlobDigest>();
    for (const [role, path] of Object.entries(request.blobs)) blobs.set(role, await digestInTurn(() => digestBlob(role, path)));
    const answer = await partStore.find({
      name: part.name,
      version: part.version,
      modulePath: fileURLToPath(part.module),
      runsModels: part.runsModels,
      manifest: request.manifest,
      blobs: Object.fromEntries([...blobs].map(([role, { digest }]) => [role, digest])),
      paths: { blobs: request.blobs, unkeyed: request.unkeyed ?? {} },
    });
    if (answer.kind === 'found') {
      count(part.name, answer.made);
      return { files: answer.files, from: answer.made === 'earlier' ? 'kept' : 'computed' };
    }

    const own = join(folder, String(runs++));
    try {
      await mkdir(own, { recursive: true });
      const { manifest, unkeyed = {} } = request;
      const names = await compute(part, { manifest, blobs: request.blobs, unkeyed, folder: own, context });
      checkNames(part.name, own, names);
      count(part.name, 'here');
      const changed = await findChanged(request.blobs, blobs);
      if (changed === undefined) return { files: await partStore.keep(answer.ticket, own, names), from: 'computed' };
      partStore.drop(answer.ticket, `blob "${changed}" of part ${part.name} changed while it ran`);
      return { files: Object.fromEntries(names.map(name => [name, join(own, name)])), from: 'computed' };
    } catch (error) {
      partStore.drop(answer.ticket, '');
      throw error;
    }
  };
}

function checkNames(part: string, folder: string, names: readonly string[]): void {
  for (const name of names) {
    if (!isInnerPath(name)) throw new StageError('part-output', `part ${part} returns "${name}", which is not a path inside its folder`);
    if (statPath(join(folder, name))?.kind !== 'file')
      throw new StageError('part-output', `part ${part} returns "${name}", but wrote no such file`);
  }
}
