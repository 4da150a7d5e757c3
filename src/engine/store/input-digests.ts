/** Digests of the current content of sources: taken from stamps where these prove it, otherwise from reading. */
import { join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import type { Artifact } from '../model/artifact.js';
import { EngineError, messageOf, systemCode } from '../model/engine-error.js';
import { digestPath } from './files/digest-file.js';
import type { FileLook, Stamp } from './files/stamp.js';
import { isRacy, lookAt, lookAtLink, stampsOfLinks } from './files/stamp.js';
import type { FoundEntry, TreeEntry } from './files/tree.js';
import { signatureOf, treeArtifact, walkFolder } from './files/tree.js';
import type { State } from './state-log.js';

/** A source with its content, and the signature that shows whether it is unchanged. */
export interface PinnedSource {
  readonly artifact: Artifact;
  readonly signature: string;
  /** Stamps of the symbolic links from the path itself to its target, not of links in the folders above it. */
  readonly links: string;
  /** 'racy': a later change may not show in the signature. */
  readonly proof: 'settled' | 'racy';
  /** For a folder: the entries that its digest covers. */
  readonly tree?: readonly TreeEntry[];
}

export interface InputDigests {
  /**
   * The content of the source if stamps prove it; undefined if files must be read.
   * @throws EngineError `input-missing`, `input-unreadable`.
   */
  find(path: string): PinnedSource | undefined;
  /** The content of the source, read if necessary. @throws like `find`. */
  digest(path: string): Promise<PinnedSource>;
}

export interface InputPlaces {
  /** Converts a path of the pipeline file to an absolute path. */
  resolve(path: string): string;
  /** Why a path cannot be a source: the build itself writes to it. Called only for paths that must be read. */
  findWritten(path: string): { readonly what: string; readonly help: string } | undefined;
  /** Keeps the digest of a settled file for later builds. */
  remember(path: string, stamp: Stamp, digest: Digest): void;
}

export function createInputDigests(state: Pick<State, 'files'>, { resolve, findWritten, remember }: InputPlaces): InputDigests {
  const known = (path: string, look: FileLook): Digest | undefined => {
    const entry = state.files.get(path);
    return entry?.stamp === look.stamp ? entry.digest : undefined;
  };

  const assertSource = (path: string): void => {
    const why = findWritten(path);
    if (why !== undefined) throw new EngineError('source-is-written', `source ${path} ${why.what}`, { help: why.help });
  };

  const read = async (path: string, at: string): Promise<{ look: FileLook; digest: Digest; proof: 'settled' | 'racy' }> => {
    for (let attempt = 1; ; attempt++) {
      const look = lookOrThrow(path, at);
      const kept = known(path, look);
      if (kept !== undefined) return { look, digest: kept, proof: 'settled' };
      assertSource(path);
      const takenMs = Date.now();
      const digest = await readable(path, () => digestPath(at, look.sizeBytes));
      if (lookAt(at)?.stamp !== look.stamp) {
        if (attempt < 5) continue;
        throw new EngineError('input-changed', `source ${path} is being written to`, { help: 'build again when it is complete' });
      }
      const proof = isRacy(look, takenMs) ? 'racy' : 'settled';
      if (proof === 'settled') remember(path, look.stamp, digest);
      return { look, digest, proof };
    }
  };

  return {
    find(path) {
      const at = resolve(path);
      const links = readableNow(path, () => stampsOfLinks(at));
      const look = lookOrThrow(path, at);
      if (look.kind === 'file') {
        const digest = known(path, look);
        return digest === undefined ? undefined : pinFile(look, digest, links, 'settled');
      }
      const entries = readableNow(path, () => walkFolder(at, 'follow'));
      const digests: Digest[] = [];
      for (const entry of entries) {
        if (entry.kind !== 'file') continue;
        const digest = known(join(path, entry.path), entry.look);
        if (digest === undefined) return undefined;
        digests.push(digest);
      }
      return pinFolder(entries, digests, links, 'settled');
    },

    async digest(path) {
      const at = resolve(path);
      const links = readableNow(path, () => stampsOfLinks(at));
      const look = lookOrThrow(path, at);
      if (look.kind === 'file') {
        const { look: last, digest, proof } = await read(path, at);
        return pinFile(last, digest, links, proof);
      }
      assertSource(path);
      const entries = readableNow(path, () => walkFolder(at, 'follow'));
      const digests: Digest[] = [];
      let proof: 'settled' | 'racy' = 'settled';
      for (const entry of entries) {
        if (entry.kind !== 'file') continue;
        const one = await read(join(path, entry.path), join(at, entry.path));
        digests.push(one.digest);
        if (one.proof === 'racy' || one.look.stamp !== entry.look.stamp) proof = 'racy';
      }
      return pinFolder(entries, digests, links, proof);
    },
  };
}

function pinFile(look: FileLook, digest: Digest, links: string, proof: 'settled' | 'racy'): PinnedSource {
  const { stamp, sizeBytes, executable } = look;
  return { artifact: { kind: 'file', digest, sizeBytes, executable }, signature: stamp, links, proof };
}

/** @param digests one per file among `entries`, in the same order. */
function pinFolder(entries: readonly FoundEntry[], digests: readonly Digest[], links: string, proof: 'settled' | 'racy'): PinnedSource {
  let file = 0;
  const tree = entries.map((entry): TreeEntry => {
    if (entry.kind !== 'file') return entry;
    const { sizeBytes: size, executable } = entry.look;
    return { kind: 'file', path: entry.path, digest: digests[file++] as Digest, sizeBytes: size, executable };
  });
  return {
    artifact: treeArtifact(tree),
    signature: signatureOf(entries),
    links,
    proof,
    tree,
  };
}

function lookOrThrow(path: string, at: string): FileLook {
  const look = readableNow(path, () => lookAt(at));
  if (look === undefined) {
    const what = lookAtLink(at) === undefined ? 'does not exist' : 'is a link that leads to nothing';
    throw new EngineError('input-missing', `source ${path} ${what}`, {
      help: 'create it, or correct its path in the pipeline file',
    });
  }
  if (look.kind === 'file' || look.kind === 'folder') return look;
  throw new EngineError('special-file', `source ${path} is neither a file nor a folder`);
}

function readableNow<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function readable<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): unknown {
  if (error instanceof EngineError) return error;
  const code = systemCode(error) === 'ENOENT' ? 'input-missing' : 'input-unreadable';
  return new EngineError(code, `source ${path} cannot be read: ${messageOf(error)}`, { cause: error });
}
