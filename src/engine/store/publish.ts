/** Publishes outputs under artifacts/: they are completed in a staging folder first, then replace the old outputs. */
import { linkSync, lstatSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { hasCode, LINK_REFUSED } from '../../base/system-error.js';
import type { Published, PublishedArtifact } from '../model/accepted-stage.js';
import type { Artifact } from '../model/artifact.js';
import { EngineError } from '../model/engine-error.js';
import type { BlobStore } from './blob-store.js';
import { stampOfLink } from './files/stamp.js';
import type { TreeEntry } from './files/tree.js';
import { decodeTree } from './files/tree.js';
import { holds, publishedSignature } from './published.js';
import type { PublishedNames } from './published-names.js';
import { listStanding, newStaging, remove, replaceFolder, replaceNames } from './stage-folder.js';

/** Puts the content of a digest at a path that does not exist yet; false if the content is missing or damaged. */
export type FetchFile = (digest: Digest, path: string, executable: boolean) => Promise<boolean>;
export type FetchTree = (digest: Digest) => Promise<readonly TreeEntry[] | undefined>;

export interface Content {
  readonly fetchFile: FetchFile;
  readonly fetchTree: FetchTree;
}

/** Content from the store only. @param form 'links': files are read-only hard links to blobs of the store, where possible. */
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
 * False if there is no such blob, or no link to it can be made: it is on another file system, or has too many links.
 * A blob with a second link is not linked again, because that would change the stamp of the existing artifact.
 */
async function linkVerified(store: BlobStore, digest: Digest, path: string): Promise<boolean> {
  const blob = await store.locate(digest);
  if (blob === undefined || statSync(blob).nlink > 1) return false;
  try {
    linkSync(blob, path);
    return true;
  } catch (error) {
    if (hasCode(error, ...LINK_REFUSED)) return false;
    throw error;
  }
}

export interface Publication {
  /** Absolute path of artifacts/. */
  readonly artifactsRoot: string;
  /** The folder of the stage, relative to artifacts/. */
  readonly folder: string;
  /** Artifacts by port. `names` holds the file name of each port in the folder. */
  readonly outputs: Readonly<Record<string, Artifact>>;
  readonly names: Readonly<Record<string, string>>;
  /** What the last accepted result of the stage published, by port. */
  readonly accepted: Published['outputs'] | undefined;
}

export interface Placed extends Published {
  /** Names in the folder that no build has published. They were kept. */
  readonly foreign: readonly string[];
}

/**
 * Publishes the outputs. If the folder holds only files published by builds, it is replaced as a whole; otherwise the outputs are replaced
 * one by one beside the other files.
 * @returns what was published; undefined if some content is missing or damaged: then nothing has changed.
 * @throws EngineError `output-blocked` if a file that no build has published is in the way.
 */
export async function publish(publication: Publication, content: Content, published: PublishedNames): Promise<Placed | undefined> {
  const { artifactsRoot, outputs, names, accepted = {} } = publication;
  // A record may be forged: its output names are never used as paths.
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
    // Signed before other processes can reach the files, so that later writes are detected. Renaming the folder does not change the stamps
    // of its content.
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

/** A file with the bytes of the output is accepted as the output, because the list of published files may be lost. */
async function assertEqual(path: string, port: string, artifact: Artifact): Promise<void> {
  if (await holds(path, artifact).catch(() => false)) return;
  throw new EngineError('output-blocked', `${path} is in the place of output "${port}", and no build published it`, {
    details: { path },
    help: 'move or delete it, and build again: the result is in the cache',
  });
}

function makeArtifactsRoot(root: string): void {
  if (lstatSync(root, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, '.gitignore'), '*\n!.gitignore\n');
}

/** Puts an artifact at a path that does not exist yet; false if its content is missing or damaged. */
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

/** Sets the time to the past. An edit right after publishing sets the current time, which then differs even with a coarse clock. */
function backdate(path: string): void {
  const time = Math.floor(Date.now() / 1000) - BACKDATE_S;
  utimesSync(path, time, time);
}
