/**
 * Detection of writes to artifacts that a stage reads.
 * Only Tanren writes artifacts, so such a write comes from a stage that reads the artifact, or from a person.
 * A run on private copies shows which of the two it was.
 */
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isUnpublished, nameOf, type PinnedInput } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import { EngineError } from '../model/engine-error.js';
import { statLink } from '../store/files/stamp.js';
import { walkFolder } from '../store/files/tree.js';
import { contentOf, place } from '../store/publish.js';
import { holds, publishedSignature } from '../store/published.js';
import { RUN_LAYOUT } from './worker/action-document.js';

/** Returns the first artifact among the inputs that has changed since it was pinned. @param beganMs see `clockOf`. */
export async function findWritten(inputs: readonly PinnedInput[], beganMs: number): Promise<PinnedInput | undefined> {
  for (const input of inputs) if (input.ref.kind === 'artifact' && !isUnpublished(input) && (await isWritten(input, beganMs))) return input;
  return undefined;
}

async function isWritten({ path, artifact, signature }: PinnedInput, beganMs: number): Promise<boolean> {
  const stat = statArtifact(path, artifact.kind);
  if (stat?.signature !== signature) return true;
  return mayHideWrites(stat, beganMs) && !(await holds(path, artifact));
}

/** Whether the stamp proves the content of the artifact in a run that began at `beganMs`. */
export function isProvenFor({ path, artifact }: PinnedInput, beganMs: number): boolean {
  const stat = statArtifact(path, artifact.kind);
  return stat !== undefined && !mayHideWrites(stat, beganMs);
}

interface ArtifactStat {
  readonly signature: string;
  /** Change time of the most recently changed inode in it. */
  readonly changedMs: number;
  readonly isCoarse: boolean;
}

function statArtifact(path: string, kind: 'file' | 'tree'): ArtifactStat | undefined {
  const signature = publishedSignature(path, kind);
  const stat = statLink(path);
  if (signature === undefined || stat === undefined) return undefined;
  const stats = kind === 'file' ? [stat] : walkFolder(path, 'keep').flatMap(entry => (entry.kind === 'file' ? [entry.stat] : []));
  return { signature, changedMs: Math.max(0, ...stats.map(one => one.changedMs)), isCoarse: stats.some(one => one.isCoarse) };
}

const COARSE_MS = 2_000;

/** A write in the same clock tick as the publication does not alter the change time. All writes are visible only if the run began after that tick. */
function mayHideWrites({ changedMs, isCoarse: coarse }: ArtifactStat, beganMs: number): boolean {
  return changedMs >= beganMs - (coarse ? COARSE_MS : 0);
}

/** Returns the start time of a run by the clock of the file system, which is the change time of its newly created folder. */
export function clockOf(runFolder: string): number {
  return statLink(runFolder)?.changedMs ?? 0;
}

/** Returns the inputs with each artifact replaced by a private, verified copy in the run's folder. @throws EngineError `input-written`. */
export async function copyArtifacts(session: Session, folder: string, inputs: readonly PinnedInput[]): Promise<readonly PinnedInput[]> {
  const content = contentOf(session.store, 'copies');
  const copied: PinnedInput[] = [];
  for (const [index, input] of inputs.entries()) {
    if (input.ref.kind === 'source') {
      copied.push(input);
      continue;
    }
    const own = join(folder, RUN_LAYOUT.copies, String(index));
    mkdirSync(own, { recursive: true });
    const path = join(own, basename(input.path));
    if (!(await place(input.artifact, path, content))) throw cannotRestore(input);
    copied.push({ ...input, path, signature: publishedSignature(path, input.artifact.kind) ?? '' });
  }
  return copied;
}

/** Checks the copies after the run. @param copies result of `copyArtifacts`. @throws EngineError `input-written`. */
export async function assertUnwritten(copies: readonly PinnedInput[]): Promise<void> {
  for (const copy of copies) {
    const { ref, port, path, artifact, signature } = copy;
    if (ref.kind === 'source' || (publishedSignature(path, artifact.kind) === signature && (await holds(path, artifact)))) continue;
    throw new EngineError('input-written', `the stage writes to its input "${port}" (${nameOf(copy)}): inputs are read-only`, {
      help: 'write to an output, or copy the input to the scratch folder first',
    });
  }
}

/** Returns the error for an input whose artifact is not complete in the store. */
export function cannotRestore(input: PinnedInput): EngineError {
  return new EngineError('input-written', `${nameOf(input)} was written to while the stage ran, and the cache has no complete copy of it`, {
    help: 'build again: the stage that makes it then runs again',
  });
}
