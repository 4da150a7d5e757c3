/** Keeping of a completed run as the stage's result: first the blobs, then the record, then the published artifacts, then the state. */
import { constants, existsSync } from 'node:fs';
import { chmod, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { quickKeyOf } from '../action/manifest.js';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import type { AcceptedStage, Published } from '../model/accepted-stage.js';
import type { Artifact } from '../model/artifact.js';
import { differingPorts } from '../model/artifact.js';
import { EngineError, messageOf } from '../model/engine-error.js';
import type { PlannedStage } from '../model/plan.js';
import type { ActionResult } from '../store/action-records.js';
import { publicMode } from '../store/blob-store.js';
import { encodeTree } from '../store/files/tree.js';
import { encodePartList } from '../store/part-list.js';
import type { Content } from '../store/publish.js';
import { contentOf } from '../store/publish.js';
import type { CollectedOutput } from './collect.js';
import { mayShare } from './may-share.js';
import { measure } from './measure.js';
import { publishStage } from './publish-stage.js';
import type { CompletedRun } from './run-once.js';
import { storeExplanations } from './store-explanations.js';

/** Stores, records and publishes a run. A failed cache write is a warning. @throws EngineError if the artifacts cannot be written. */
export async function storeResult(session: Session, stage: PlannedStage, pinned: PinnedStage, run: CompletedRun): Promise<AcceptedStage> {
  const artifacts = artifactsOf(run);
  const warn = (message: string): void => session.ports.emit({ kind: 'warning', stage: stage.id, code: 'cache-write-failed', message });
  const store = async (): Promise<{ readonly result: ActionResult; readonly other: ActionResult | undefined }> => {
    await storeOutputs(session, run);
    const log = run.log === undefined ? undefined : await session.store.storeBytes(run.log, 'no-flush');
    const parts = run.parts.size === 0 ? undefined : await session.store.storeBytes(encodePartList(run.parts), 'no-flush');
    const { metrics, durationMs } = run;
    const result = { outputs: artifacts, metrics, log, parts, durationMs };
    return { result, other: await session.records.add(pinned.key, pinned.manifest, result) };
  };
  try {
    const { result, other } = await measure(session.ports, stage.id, 'store', store);
    if (other !== undefined && stage.determinism === 'exact') warnOfDifference(session, stage, differingPorts(other.outputs, artifacts));
    // A result that was not reproduced stays here.
    if (other === undefined && mayShare(stage)) session.remote?.offer(stage.id, pinned.key, pinned.manifest, result);
  } catch (error) {
    warn(`the result cannot be written to the cache: ${messageOf(error)}`);
  }
  await storeExplanations(session, stage, pinned);
  const publishAll = () => publishOrThrow(session, stage, artifacts, contentOfRun(session, run));
  const published = await measure(session.ports, stage.id, 'publish', publishAll);
  return accept(session, stage, pinned, { ...published, metrics: run.metrics, durationMs: run.durationMs });
}

/** Makes a published result the accepted result of the stage and writes it to the state. */
export function accept(
  session: Session,
  stage: PlannedStage,
  pinned: PinnedStage,
  result: Pick<AcceptedStage, 'outputs' | 'folderStamp' | 'metrics' | 'durationMs'>,
): AcceptedStage {
  const before = session.state.stages.get(stage.id);
  const isSame = before !== undefined && differingPorts(before.outputs, result.outputs).length === 0;
  const accepted: AcceptedStage = {
    ...result,
    key: pinned.key,
    quickKey: quickKeyOf(pinned.manifest),
    previousMetrics: isSame ? before.previousMetrics : before?.metrics,
  };
  try {
    session.writer?.acceptStage(stage.id, accepted);
    session.writer?.flush();
  } catch (error) {
    const message = `the state cannot be written: ${messageOf(error)}; the next build examines this stage again`;
    session.ports.emit({ kind: 'warning', stage: stage.id, code: 'cache-write-failed', message });
  }
  return accepted;
}

function artifactsOf(run: CompletedRun): Record<string, Artifact> {
  return Object.fromEntries(Object.entries(run.outputs).map(([port, { artifact }]) => [port, artifact]));
}

/** A result that took less time to make is not flushed. A power failure may damage it: the blob then does not match its digest, and the stage runs again. */
const WORTH_FLUSHING_MS = 1_000;

async function storeOutputs({ store }: Session, run: CompletedRun): Promise<void> {
  const flushing = run.durationMs < WORTH_FLUSHING_MS ? 'no-flush' : 'flush';
  for (const output of Object.values(run.outputs)) {
    for (const [path, digest] of filesOf(output)) await store.takeFile(path, digest, flushing);
    if (output.tree !== undefined) await store.storeBytes(encodeTree(output.tree), flushing);
  }
}

function filesOf({ path, artifact, tree }: CollectedOutput): readonly (readonly [string, Digest])[] {
  if (tree === undefined) return [[path, artifact.digest]];
  return tree.flatMap(entry => (entry.kind === 'file' ? [[join(path, entry.path), entry.digest] as const] : []));
}

/** Returns the run's own files if the store did not take them; otherwise the store's files, verified. */
function contentOfRun(session: Session, run: CompletedRun): Content {
  const stored = contentOf(session.store, session.ports.artifacts ?? 'copies');
  const left = new Map<Digest, string>();
  const trees = new Map<Digest, CollectedOutput>();
  for (const output of Object.values(run.outputs)) {
    if (output.tree !== undefined) trees.set(output.artifact.digest, output);
    for (const [path, digest] of filesOf(output)) if (existsSync(path)) left.set(digest, path);
  }
  return {
    async fetchFile(digest, path, executable) {
      const from = left.get(digest);
      if (from === undefined) return stored.fetchFile(digest, path, executable);
      await copyFile(from, path, constants.COPYFILE_FICLONE);
      await chmod(path, publicMode(executable));
      return true;
    },
    fetchTree: async digest => trees.get(digest)?.tree ?? stored.fetchTree(digest),
  };
}

async function publishOrThrow(
  session: Session,
  stage: PlannedStage,
  outputs: Readonly<Record<string, Artifact>>,
  content: Content,
): Promise<Published> {
  const published = await publishStage(session, stage, outputs, content);
  if (published === undefined)
    throw new EngineError('cache-unreliable', 'the digest of a blob differs right after it was stored: check the disk');
  return published;
}

function warnOfDifference({ ports }: Session, stage: PlannedStage, differing: readonly string[]): void {
  const message = `the same action gave different bytes than before: ${differing.map(port => `output "${port}"`).join(', ')}; both results are kept`;
  ports.emit({ kind: 'warning', stage: stage.id, code: 'non-deterministic', message });
}
