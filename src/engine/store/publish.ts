/** How do outputs appear under artifacts/? All of a stage at once, by rename, in place of what was there. */
import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, mkdirSync, readdirSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { digestBytes } from '../../base/digest.js';
import type { Published, PublishedArtifact } from '../model/accepted-stage.js';
import type { Artifact } from '../model/artifact.js';
import { systemCode } from '../model/engine-error.js';
import type { BlobStore } from './blob-store.js';
import { digestPath } from './files/digest-file.js';
import { withOpenFolders } from './files/open-folders.js';
import { lookAtLink, stampOfLink } from './files/stamp.js';
import type { TreeEntry } from './files/tree.js';
import { decodeTree, encodeTree, signatureOf, walkFolder } from './files/tree.js';

/** Puts the content of a digest at a path that does not exist yet; false where it is not to be had whole. */
export type FetchFile = (digest: Digest, path: string, executable: boolean) => Promise<boolean>;
export type FetchTree = (digest: Digest) => readonly TreeEntry[] | undefined;

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
    fetchTree: digest => {
      const bytes = store.read(digest);
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
  /** Absolute path of the stage's folder in it. */
  readonly folder: string;
  /** Artifacts by port, and the name that each port has in the folder. */
  readonly outputs: Readonly<Record<string, Artifact>>;
  readonly names: Readonly<Record<string, string>>;
}

/** @returns what was published; undefined where some content is not to be had whole: then nothing has changed. */
export async function publish(publication: Publication, content: Content): Promise<Published | undefined> {
  const { artifactsRoot, folder, outputs, names } = publication;
  // A record may be forged: what it calls an output is no path.
  if (Object.keys(outputs).some(port => !Object.hasOwn(names, port))) return undefined;
  makeArtifactsRoot(artifactsRoot);
  const staging = join(artifactsRoot, '.staging', randomBytes(8).toString('hex'));
  makeFolder(dirname(staging));
  mkdirSync(staging);
  try {
    for (const [port, artifact] of Object.entries(outputs)) {
      if (!(await place(artifact, join(staging, names[port] ?? port), content))) {
        await remove(staging);
        return undefined;
      }
    }
    await swap(staging, folder);
  } catch (error) {
    await remove(staging);
    throw error;
  }
  backdate(folder);
  const published: Record<string, PublishedArtifact> = {};
  for (const [port, artifact] of Object.entries(outputs)) {
    published[port] = { ...artifact, signature: publishedSignature(join(folder, names[port] ?? port), artifact.kind) ?? '' };
  }
  return { outputs: published, folderStamp: stampOfLink(folder) };
}

/** One level only: a recursive mkdir says of a read-only file system that there is no such folder. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

async function remove(path: string): Promise<void> {
  await withOpenFolders(path, () => rm(path, { recursive: true, force: true }));
}

/** Removes what interrupted builds have left. Only under the lock. */
export async function removeStaging(artifactsRoot: string): Promise<void> {
  await remove(join(artifactsRoot, '.staging'));
}

function makeArtifactsRoot(root: string): void {
  if (lstatSync(root, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, '.gitignore'), '*\n!.gitignore\n');
}

async function place(artifact: Artifact, path: string, content: Content): Promise<boolean> {
  if (artifact.kind === 'file') return placeFile(artifact.digest, path, artifact.executable, content);
  const tree = content.fetchTree(artifact.digest);
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

async function swap(staging: string, folder: string): Promise<void> {
  const old = `${staging}.old`;
  const stood = await withOpenFolders(folder, () => tryRename(folder, old));
  if (!tryRename(staging, folder)) {
    mkdirSync(dirname(folder), { recursive: true });
    renameSync(staging, folder);
  }
  if (stood) await remove(old);
}

/** @returns whether there was something to rename, and a folder to rename it into. */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return false;
  }
}

/** The signature of what stands at a published path; undefined where it is not of the kind, or cannot be read. Links are not followed. */
export function publishedSignature(path: string, kind: 'file' | 'tree'): string | undefined {
  const look = lookAtLink(path);
  if (look === undefined) return undefined;
  if (kind === 'file') return look.kind === 'file' ? look.stamp : undefined;
  return look.kind === 'folder' ? findFolderSignature(path) : undefined;
}

/** Somebody may have put a socket in it, or taken our right to read it: then it is not what was published. */
function findFolderSignature(path: string): string | undefined {
  try {
    return signatureOf(walkFolder(path, 'keep'));
  } catch {
    return undefined;
  }
}

/** What is not as it was published, by its stamps; undefined where everything is there, alone, and untouched. */
export function findTouched(
  folder: string,
  { outputs, folderStamp: stamp }: Published,
  names: Readonly<Record<string, string>>,
): string | undefined {
  const isListed = stampOfLink(folder) === stamp;
  for (const port of Object.keys(outputs)) {
    const name = names[port] ?? port;
    const published = outputs[port];
    const signature = published === undefined ? undefined : publishedSignature(`${folder}/${name}`, published.kind);
    if (signature === undefined) return `${name} is missing`;
    if (signature !== published?.signature) return `${name} was changed`;
  }
  const stranger = isListed ? undefined : findStranger(folder, outputs, names);
  return stranger === undefined ? undefined : `${stranger} is no output of the stage`;
}

function findStranger(folder: string, outputs: Published['outputs'], names: Readonly<Record<string, string>>): string | undefined {
  const expected = new Set(Object.keys(outputs).map(port => names[port] ?? port));
  return listNames(folder).find(name => !expected.has(name));
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Do touched files still hold what was published? @returns the new signatures, or undefined where something differs. */
export async function resign(
  folder: string,
  { outputs }: Published,
  names: Readonly<Record<string, string>>,
): Promise<Published | undefined> {
  const stamp = stampOfLink(folder);
  if (findStranger(folder, outputs, names) !== undefined) return undefined;
  const signed: Record<string, PublishedArtifact> = {};
  for (const [port, artifact] of Object.entries(outputs)) {
    const path = join(folder, names[port] ?? port);
    const before = publishedSignature(path, artifact.kind);
    if (before === undefined || !(await holds(path, artifact)) || publishedSignature(path, artifact.kind) !== before) return undefined;
    signed[port] = { ...artifact, signature: before };
  }
  return { outputs: signed, folderStamp: stamp };
}

async function holds(path: string, artifact: Artifact): Promise<boolean> {
  if (artifact.kind === 'file') {
    const look = lookAtLink(path);
    return (
      look?.executable === artifact.executable &&
      look.sizeBytes === artifact.sizeBytes &&
      (await digestPath(path, look.sizeBytes)) === artifact.digest
    );
  }
  const tree: TreeEntry[] = [];
  for (const entry of walkFolder(path, 'keep')) {
    if (entry.kind !== 'file') tree.push(entry);
    else {
      const { sizeBytes, executable } = entry.look;
      tree.push({ kind: 'file', path: entry.path, digest: await digestPath(join(path, entry.path), sizeBytes), sizeBytes, executable });
    }
  }
  return digestBytes(encodeTree(tree)) === artifact.digest;
}
