/** How outputs come to stand under artifacts/: made complete in a folder beside it, then put in place of the old ones. */
import { linkSync, lstatSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import type { Published, PublishedArtifact } from '../model/accepted-stage.js';
import type { Artifact } from '../model/artifact.js';
import { EngineError, systemCode } from '../model/engine-error.js';
import type { BlobStore } from './blob-store.js';
import { stampOfLink } from './files/stamp.js';
import type { TreeEntry } from './files/tree.js';
import { decodeTree } from './files/tree.js';
import { holds, publishedSignature } from './published.js';
import type { PublishedNames } from './published-names.js';
import { listStanding, newStaging, remove, replaceFolder, replaceNames } from './stage-folder.js';

/** Puts the content of a digest at a path that does not exist yet; false where it is not to be had whole. */
export type FetchFile = (digest: Digest, path: string, executable: boolean) => Promise<boolean>;
export type FetchTree = (digest: Digest) => Promise<readonly TreeEntry[] | undefined>;

export interface Content {
  readonly fetchFile: FetchFile;
  readonly fetchTree: FetchTree;
}

/** Content out of the store alone. @param form 'links': files are the store's own, under another name and read only, where that is possible. */
export function contentOf(store: BlobStore, form: 'copies' | 'links'): Content {
  return {
    fetchFile: async (digest, path, executable) =>
      (form === 'links' && !executable && (await linkVerified(store, digest, path))) ||
      (await store.copyTo(digest, path, executable)) === 'found',
    fetchTree: async digest => {
      const bytes = await store.read(digest);
      return bytes === undefined ? undefined : decodeTree(bytes.toString());
    },
  };
}

/**
 * False where there is no such blob, or none that can be linked to: in another file system, or with too many links.
 * A blob that has another name already is not linked again: that would change the stamp of what stands under the other one.
 */
async function linkVerified(store: BlobStore, digest: Digest, path: string): Promise<boolean> {
  const blob = await store.locate(digest);
  if (blob === undefined || statSync(blob).nlink > 1) return false;
  try {
    linkSync(blob, path);
    return true;
  } catch (error) {
    if (NOT_LINKED.includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}

const NOT_LINKED = ['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

export interface Publication {
  /** Absolute path of artifacts/. */
  readonly artifactsRoot: string;
  /** The stage's folder in it, relative to it. */
  readonly folder: string;
  /** Artifacts by port, and the name that each port has in the folder. */
  readonly outputs: Readonly<Record<string, Artifact>>;
  readonly names: Readonly<Record<string, string>>;
  /** What the stage's last accepted result published, by port. */
  readonly accepted: Published['outputs'] | undefined;
}

export interface Placed extends Published {
  /** Names in the folder that no build has published: they were left where they stand. */
  readonly foreign: readonly string[];
}

/**
 * Publishes the outputs: all at once where the folder holds nothing but what builds have published, else beside the other files, one output after the other.
 * @returns what was published; undefined where some content is not to be had whole: then nothing has changed.
 * @throws EngineError `output-blocked` where something stands in the way that no build has published.
 */
export async function publish(publication: Publication, content: Content, published: PublishedNames): Promise<Placed | undefined> {
  const { artifactsRoot, outputs, names, accepted = {} } = publication;
  // A record may be forged: what it calls an output is no path.
  if (Object.keys(outputs).some(port => !Object.hasOwn(names, port))) return undefined;
  const nameOf = (port: string): string => names[port] ?? port;
  const folder = join(artifactsRoot, publication.folder);
  const wanted = Object.keys(outputs).map(nameOf);
  makeArtifactsRoot(artifactsRoot);
  const standing = listStanding(artifactsRoot, publication.folder);
  const known = published.isEmptied(publication.folder) ? [] : Object.keys(accepted).map(nameOf);
  const own = new Set([...published.in(publication.folder), ...known]);
  for (const [port, artifact] of Object.entries(outputs)) {
    if (standing.includes(nameOf(port)) && !own.has(nameOf(port))) await assertEqual(join(folder, nameOf(port)), port, artifact);
    own.add(nameOf(port));
  }
  const foreign = standing.filter(name => !own.has(name));
  const staging = newStaging(artifactsRoot);
  const sign = (at: string): Published['outputs'] =>
    Object.fromEntries(
      Object.entries(outputs).map(([port, artifact]): [string, PublishedArtifact] => [
        port,
        { ...artifact, signature: publishedSignature(join(at, nameOf(port)), artifact.kind) ?? '' },
      ]),
    );
  let signed: Published['outputs'] = {};
  mkdirSync(staging);
  try {
    for (const [port, artifact] of Object.entries(outputs)) {
      if (await place(artifact, join(staging, nameOf(port)), content)) continue;
      await remove(staging);
      return undefined;
    }
    published.add(publication.folder, wanted);
    // Signed before others can reach them: what somebody writes after that is seen. A rename of the folder changes nothing of what is in it.
    signed = sign(staging);
    const old = standing.filter(name => own.has(name));
    if (foreign.length === 0) await replaceFolder(staging, folder, own);
    else {
      await replaceNames(staging, folder, {
        wanted,
        old,
        onPlaced: () => {
          signed = sign(folder);
        },
      });
    }
  } catch (error) {
    await remove(staging);
    throw error;
  }
  backdate(folder);
  return { outputs: signed, folderStamp: stampOfLink(folder), foreign };
}

/** What has the bytes of the output may as well be the output: the list of what was published may be lost. */
async function assertEqual(path: string, port: string, artifact: Artifact): Promise<void> {
  if (await holds(path, artifact).catch(() => false)) return;
  throw new EngineError('output-blocked', `${path} stands where output "${port}" belongs, and no build has published it`, {
    details: { path },
    help: 'move or delete it, and build again: the result is in the cache',
  });
}

function makeArtifactsRoot(root: string): void {
  if (lstatSync(root, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, '.gitignore'), '*\n!.gitignore\n');
}

/** Puts an artifact at a path that does not exist yet; false where it is not to be had whole. */
export async function place(artifact: Artifact, path: string, content: Content): Promise<boolean> {
  if (artifact.kind === 'file') return placeFile(artifact.digest, path, artifact.executable, content);
  const tree = await content.fetchTree(artifact.digest);
  if (tree === undefined) return false;
  mkdirSync(path, { recursive: true });
  for (const entry of tree) {
    const at = join(path, entry.path);
    mkdirSync(dirname(at), { recursive: true });
    if (entry.kind === 'folder') mkdirSync(at, { recursive: true });
    else if (entry.kind === 'symlink') symlinkSync(entry.target, at);
    else if (!(await placeFile(entry.digest, at, entry.executable, content))) return false;
  }
  return true;
}

async function placeFile(digest: Digest, path: string, executable: boolean, content: Content): Promise<boolean> {
  if (!(await content.fetchFile(digest, path, executable))) return false;
  backdate(path);
  return true;
}

const BACKDATE_S = 2;

/** An edit right after publishing sets the time to now: so it differs from this one, however coarse the clock. */
function backdate(path: string): void {
  const time = Math.floor(Date.now() / 1000) - BACKDATE_S;
  utimesSync(path, time, time);
}
