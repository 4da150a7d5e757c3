/** Digests of the current content of sources: taken from stamps where these prove it, otherwise from reading. */
import { join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { hasCode } from '../../base/system-error.js';
import type { Artifact } from '../model/artifact.js';
import { EngineError, messageOf } from '../model/engine-error.js';
import { digestPath } from './files/digest-file.js';
import type { FileStat, Stamp } from './files/stamp.js';
import { isRacy, stampsOfLinks, statLink, statPath } from './files/stamp.js';
import type { FoundEntry, TreeEntry } from './files/tree.js';
import { signatureOf, treeArtifact, walkFolder } from './files/tree.js';
import type { State } from './state.js';

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
  const known = (path: string, stat: FileStat): Digest | undefined => {
    const entry = state.files.get(path);
    return entry?.stamp === stat.stamp ? entry.digest : undefined;
  };

  const assertSource = (path: string): void => {
    const why = findWritten(path);
    if (why !== undefined) throw new EngineError('source-is-written', `source ${path} ${why.what}`, { help: why.help });
  };

  const read = async (path: string, at: string): Promise<{ stat: FileStat; digest: Digest; proof: 'settled' | 'racy' }> => {
    for (let attempt = 1; ; attempt++) {
      const stat = statOrThrow(path, at);
      const kept = known(path, stat);
      if (kept !== undefined) return { stat, digest: kept, proof: 'settled' };
      assertSource(path);
      const takenMs = Date.now();
      const digest = await readable(path, () => digestPath(at, stat.sizeBytes));
      if (statPath(at)?.stamp !== stat.stamp) {
        if (attempt < 5) continue;
        throw new EngineError('input-changed', `source ${path} is being written to`, { help: 'build again when it is complete' });
      }
      const proof = isRacy(stat, takenMs) ? 'racy' : 'settled';
      if (proof === 'settled') remember(path, stat.stamp, digest);
      return { stat, digest, proof };
    }
  };

  return {
    find(path) {
      const at = resolve(path);
      const links = readableNow(path, () => stampsOfLinks(at));
      const stat = statOrThrow(path, at);
      if (stat.kind === 'file') {
        const digest = known(path, stat);
        return digest === undefined ? undefined : pinFile(stat, digest, links, 'settled');
      }
      const entries = readableNow(path, () => walkFolder(at, 'follow'));
      const digests: Digest[] = [];
      for (const entry of entries) {
        if (entry.kind !== 'file') continue;
        const digest = known(join(path, entry.path), entry.stat);
        if (digest === undefined) return undefined;
        digests.push(digest);
      }
      return pinFolder(entries, digests, links, 'settled');
    },

    async digest(path) {
      const at = resolve(path);
      const links = readableNow(path, () => stampsOfLinks(at));
      const stat = statOrThrow(path, at);
      if (stat.kind === 'file') {
        const { stat: last, digest, proof } = await read(path, at);
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
        if (one.proof === 'racy' || one.stat.stamp !== entry.stat.stamp) proof = 'racy';
      }
      return pinFolder(entries, digests, links, proof);
    },
  };
}

function pinFile(stat: FileStat, digest: Digest, links: string, proof: 'settled' | 'racy'): PinnedSource {
  const { stamp, sizeBytes, executable } = stat;
  return { artifact: { kind: 'file', digest, sizeBytes, executable }, signature: stamp, links, proof };
}

/** @param digests one per file among `entries`, in the same order. */
function pinFolder(entries: readonly FoundEntry[], digests: readonly Digest[], links: string, proof: 'settled' | 'racy'): PinnedSource {
  let file = 0;
  const tree = entries.map((entry): TreeEntry => {
    if (entry.kind !== 'file') return entry;
    const { sizeBytes: size, executable } = entry.stat;
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

function statOrThrow(path: string, at: string): FileStat {
  const stat = readableNow(path, () => statPath(at));
  if (stat === undefined) {
    const what = statLink(at) === undefined ? 'does not exist' : 'is a dangling link';
    throw new EngineError('input-missing', `source ${path} ${what}`, {
      help: 'create it, or correct its path in the pipeline file',
    });
  }
  if (stat.kind === 'file' || stat.kind === 'folder') return stat;
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
  const code = hasCode(error, 'ENOENT') ? 'input-missing' : 'input-unreadable';
  return new EngineError(code, `source ${path} cannot be read: ${messageOf(error)}`, { cause: error });
}
