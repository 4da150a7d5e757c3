/** Folders as messages of the Remote Execution API, and back: what comes back is trusted only as far as it can be computed again. */
import { digestBytes, parseDigest } from '../../../base/digest.js';
import { damaged } from '../../../remote/error/remote-error.js';
import type { BlobDigest } from '../../../remote/transport/remote-cache.js';
import { DIRECTORY, type Directory, TREE, type WireDigest } from '../../../remote/wire/reapi.js';
import { decodeTree, encodeTree, type TreeEntry } from '../files/tree.js';

/** A folder while its message is built: each name has an entry, or a folder of its own. */
type Folder = Map<string, TreeEntry | Folder>;

/** The Tree message of a folder, and the digest of its root Directory. */
export function encodeTreeMessage(entries: readonly TreeEntry[]): { readonly bytes: Uint8Array; readonly root: BlobDigest } {
  const top: Folder = new Map();
  for (const entry of entries) place(top, entry);
  const children = new Map<string, Directory>();
  const root = directoryOf(top, children);
  return { bytes: TREE.encode({ root, children: [...children.values()] }), root: digestOf(DIRECTORY.encode(root)) };
}

/** The Directory messages of a folder, each once, and the digest of its root: what an input root refers to. */
export function encodeDirectories(entries: readonly TreeEntry[]): { readonly root: BlobDigest; readonly messages: readonly Uint8Array[] } {
  const top: Folder = new Map();
  for (const entry of entries) place(top, entry);
  const children = new Map<string, Directory>();
  const root = DIRECTORY.encode(directoryOf(top, children));
  return { root: digestOf(root), messages: [root, ...[...children.values()].map(child => DIRECTORY.encode(child))] };
}

function place(top: Folder, entry: TreeEntry): void {
  const names = entry.path.split('/');
  const last = names.pop() ?? '';
  let folder = top;
  for (const name of names) folder = folderIn(folder, name);
  if (entry.kind === 'folder') folderIn(folder, last);
  else folder.set(last, entry);
}

function folderIn(folder: Folder, name: string): Folder {
  const found = folder.get(name);
  if (found instanceof Map) return found;
  const made: Folder = new Map();
  folder.set(name, made);
  return made;
}

/** @param children receives each folder below, once. */
function directoryOf(folder: Folder, children: Map<string, Directory>): Directory {
  const files: Directory['files'][number][] = [];
  const directories: Directory['directories'][number][] = [];
  const symlinks: Directory['symlinks'][number][] = [];
  for (const [name, entry] of [...folder].sort(([a], [b]) => compareNames(a, b))) {
    if (entry instanceof Map) {
      const child = directoryOf(entry, children);
      const digest = digestOf(DIRECTORY.encode(child));
      children.set(digest.hash, child);
      directories.push({ name, digest });
    } else if (entry.kind === 'file') {
      files.push({ name, digest: { hash: entry.digest, sizeBytes: entry.sizeBytes }, isExecutable: entry.executable });
    } else if (entry.kind === 'symlink') symlinks.push({ name, target: entry.target });
  }
  return { files, directories, symlinks };
}

/** The order of names as UTF-8 bytes, which the protocol requires. */
function compareNames(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function digestOf(bytes: Uint8Array): BlobDigest {
  return { hash: digestBytes(bytes), sizeBytes: bytes.length };
}

/** More entries, or deeper folders, than a result has: a small message can state any number of them. */
const MOST_ENTRIES = 1_000_000;
const MOST_DEPTH = 256;
/** Linux allows no longer path. */
const MOST_CHARACTERS = 4096;

/**
 * The entries of a folder in the order of its tree document. The digests of the folders below are computed again.
 * @throws RemoteError `remote-damaged` for names that leave the folder, occur twice or are not in order, and for a folder that is absent.
 */
export function decodeTreeMessage(bytes: Uint8Array): readonly TreeEntry[] {
  const { root, children } = TREE.decode(bytes);
  if (root === undefined) throw damaged('a tree has no root');
  const byDigest = new Map(children.map(child => [nameOf(digestOf(DIRECTORY.encode(child))), child]));
  const entries: TreeEntry[] = [];
  const walk = (directory: Directory, prefix: string, depth: number): void => {
    if (depth > MOST_DEPTH) throw damaged(`a tree has more than ${MOST_DEPTH} levels`);
    checkNames(directory, MOST_CHARACTERS - prefix.length);
    for (const { name, digest, isExecutable } of directory.files) {
      const hash = parseDigest(digest?.hash);
      if (hash === undefined) throw damaged(`file "${name}" of a tree has no digest`);
      entries.push({ kind: 'file', path: prefix + name, digest: hash, sizeBytes: digest?.sizeBytes ?? 0, executable: isExecutable });
    }
    for (const { name, target } of directory.symlinks) entries.push({ kind: 'symlink', path: prefix + name, target });
    for (const { name, digest } of directory.directories) {
      const child = digest === undefined ? undefined : byDigest.get(nameOf(digest));
      if (child === undefined) throw damaged(`folder "${name}" of a tree is not in it, or has other content than its digest states`);
      if (isEmpty(child)) entries.push({ kind: 'folder', path: prefix + name });
      else walk(child, `${prefix}${name}/`, depth + 1);
    }
    if (entries.length > MOST_ENTRIES) throw damaged(`a tree has more than ${MOST_ENTRIES} entries`);
  };
  walk(root, '', 0);
  // The reader of tree documents refuses paths and links that leave the folder.
  const found = decodeTree(encodeTree(entries.sort((a, b) => (a.path < b.path ? -1 : 1))));
  if (found === undefined) throw damaged('a tree has paths or links that leave it');
  return found;
}

function nameOf({ hash, sizeBytes }: WireDigest): string {
  return `${hash}/${sizeBytes}`;
}

function isEmpty({ files, directories, symlinks }: Directory): boolean {
  return files.length + directories.length + symlinks.length === 0;
}

/** @param most characters that a name may have. */
function checkNames({ files, directories, symlinks }: Directory, most: number): void {
  const all = new Set<string>();
  for (const list of [files, directories, symlinks]) {
    let before: string | undefined;
    for (const { name } of list) {
      if (name.length > most) throw damaged(`a tree has a path of more than ${MOST_CHARACTERS} characters`);
      if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) throw damaged(`a tree has the name ${JSON.stringify(name)}`);
      if (all.has(name)) throw damaged(`a tree has the name ${JSON.stringify(name)} twice`);
      if (before !== undefined && compareNames(before, name) >= 0)
        throw damaged(`names of a tree are not in order at ${JSON.stringify(name)}`);
      all.add(name);
      before = name;
    }
  }
}
