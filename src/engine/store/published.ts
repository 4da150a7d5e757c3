/** Checks whether files under artifacts/ are still what was published, by their stamps or by their content. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../base/digest.js';
import type { Published, PublishedArtifact } from '../model/accepted-stage.js';
import type { Artifact } from '../model/artifact.js';
import { digestPath } from './files/digest-file.js';
import { stampOfLink, statLink } from './files/stamp.js';
import type { TreeEntry } from './files/tree.js';
import { encodeTree, signatureOf, walkFolder } from './files/tree.js';

/** The signature of a published path; undefined if it is of another kind or cannot be read. Links are not followed. */
export function publishedSignature(path: string, kind: 'file' | 'tree'): string | undefined {
  const stat = statLink(path);
  if (stat === undefined) return undefined;
  if (kind === 'file') return stat.kind === 'file' ? stat.stamp : undefined;
  return stat.kind === 'folder' ? findFolderSignature(path) : undefined;
}

/** The folder may hold a socket, or be unreadable now: then it is not what was published. */
function findFolderSignature(path: string): string | undefined {
  try {
    return signatureOf(walkFolder(path, 'keep'));
  } catch {
    return undefined;
  }
}

/**
 * The first deviation from what was published, by stamps; undefined if all outputs are present and unchanged, with nothing else in the
 * folder.
 */
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
  const [foreign] = isListed ? [] : listForeign(folder, outputs, names);
  return foreign === undefined ? undefined : `${foreign} is not an output of the stage`;
}

/** Names in the folder that belong to no output. */
function listForeign(folder: string, outputs: Published['outputs'], names: Readonly<Record<string, string>>): readonly string[] {
  const expected = new Set(Object.keys(outputs).map(port => names[port] ?? port));
  return listNames(folder).filter(name => !expected.has(name));
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Checks whether touched files still hold what was published.
 * @returns the new signatures and the foreign names in the folder; undefined if an output differs.
 */
export async function resign(
  folder: string,
  { outputs }: Published,
  names: Readonly<Record<string, string>>,
): Promise<(Published & { readonly foreign: readonly string[] }) | undefined> {
  const stamp = stampOfLink(folder);
  const foreign = listForeign(folder, outputs, names);
  const signed: Record<string, PublishedArtifact> = {};
  for (const [port, artifact] of Object.entries(outputs)) {
    const path = join(folder, names[port] ?? port);
    const before = publishedSignature(path, artifact.kind);
    if (before === undefined || !(await holds(path, artifact)) || publishedSignature(path, artifact.kind) !== before) return undefined;
    signed[port] = { ...artifact, signature: before };
  }
  return { outputs: signed, folderStamp: stamp, foreign };
}

/** Whether the path has the content and mode of the artifact. */
export async function holds(path: string, artifact: Artifact): Promise<boolean> {
  if (artifact.kind === 'file') {
    const stat = statLink(path);
    return (
      stat?.executable === artifact.executable &&
      stat.sizeBytes === artifact.sizeBytes &&
      (await digestPath(path, stat.sizeBytes)) === artifact.digest
    );
  }
  const tree: TreeEntry[] = [];
  for (const entry of walkFolder(path, 'keep')) {
    if (entry.kind !== 'file') tree.push(entry);
    else {
      const { sizeBytes, executable } = entry.stat;
      tree.push({ kind: 'file', path: entry.path, digest: await digestPath(join(path, entry.path), sizeBytes), sizeBytes, executable });
    }
  }
  return digestBytes(encodeTree(tree)) === artifact.digest;
}
