/**
 * Finds writes to artifacts that a stage reads. Tanren alone writes artifacts, so such a write is the work of a stage that reads it, or of a person:
 * a run on copies that nobody else knows shows who it was.
 */
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { nameOf, type PinnedInput } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import { EngineError } from '../model/engine-error.js';
import { isCoarse, lookAtLink } from '../store/files/stamp.js';
import { walkFolder } from '../store/files/tree.js';
import { contentOf, place } from '../store/publish.js';
import { holds, publishedSignature } from '../store/published.js';
import { RUN_LAYOUT } from './worker/action-document.js';

/** The first artifact among the inputs that is not what was pinned. @param beganMs see `clockOf`. */
export async function findWritten(inputs: readonly PinnedInput[], beganMs: number): Promise<PinnedInput | undefined> {
  for (const input of inputs) if (input.ref.kind === 'artifact' && (await isWritten(input, beganMs))) return input;
  return undefined;
}

async function isWritten({ path, artifact, signature }: PinnedInput, beganMs: number): Promise<boolean> {
  const look = lookAtArtifact(path, artifact.kind);
  if (look?.signature !== signature) return true;
  return mayHideWrites(look, beganMs) && !(await holds(path, artifact));
}

/** Does the stamp prove what the artifact holds in a run that began at `beganMs`? */
export function isProvenFor({ path, artifact }: PinnedInput, beganMs: number): boolean {
  const look = lookAtArtifact(path, artifact.kind);
  return look !== undefined && !mayHideWrites(look, beganMs);
}

interface ArtifactLook {
  readonly signature: string;
  /** When the newest inode in it last changed. */
  readonly changedMs: number;
  readonly isCoarse: boolean;
}

function lookAtArtifact(path: string, kind: 'file' | 'tree'): ArtifactLook | undefined {
  const signature = publishedSignature(path, kind);
  const look = lookAtLink(path);
  if (signature === undefined || look === undefined) return undefined;
  const looks = kind === 'file' ? [look] : walkFolder(path, 'keep').flatMap(entry => (entry.kind === 'file' ? [entry.look] : []));
  return { signature, changedMs: Math.max(0, ...looks.map(one => one.changedMs)), isCoarse: looks.some(isCoarse) };
}

const COARSE_MS = 2_000;

/** A write in the tick in which the artifact was published leaves its time of change as it is: only where the run began later does every write show. */
function mayHideWrites({ changedMs, isCoarse: coarse }: ArtifactLook, beganMs: number): boolean {
  return changedMs >= beganMs - (coarse ? COARSE_MS : 0);
}

/** The time of the file system at which a run folder that was just made has begun. */
export function clockOf(runFolder: string): number {
  return lookAtLink(runFolder)?.changedMs ?? 0;
}

/** The inputs of a run that shares no artifact with anybody: each artifact as a verified copy in the run's folder. @throws EngineError `input-written`. */
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

/** @param copies of `copyArtifacts`, after the run. @throws EngineError `input-written`. */
export async function assertUnwritten(copies: readonly PinnedInput[]): Promise<void> {
  for (const copy of copies) {
    const { ref, port, path, artifact, signature } = copy;
    if (ref.kind === 'source' || (publishedSignature(path, artifact.kind) === signature && (await holds(path, artifact)))) continue;
    throw new EngineError('input-written', `the stage writes to its input "${port}" (${nameOf(copy)}): inputs are only read`, {
      help: 'write to an output, or copy the input to the scratch folder first',
    });
  }
}

/** Of an input whose artifact the store does not have. */
export function cannotRestore(input: PinnedInput): EngineError {
  return new EngineError('input-written', `${nameOf(input)} was written to while the stage ran, and the cache does not have it whole`, {
    help: 'build again: the stage that makes it then runs again',
  });
}
