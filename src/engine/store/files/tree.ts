/** The content of a folder as one canonical document, whose digest stands for the whole folder. */
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { join, type PlatformPath, posix, win32 } from 'node:path';
import type { Digest } from '../../../base/digest.js';
import { digestBytes, parseDigest } from '../../../base/digest.js';
import { encodeCanonicalJson } from '../../../base/json/canonical-json.js';
import type { JsonObject } from '../../../base/json.js';
import { isJsonObject, parseJson } from '../../../base/json.js';
import type { Artifact } from '../../model/artifact.js';
import { EngineError } from '../../model/engine-error.js';
import type { FileStat } from './stamp.js';
import { stampsOfLinks, statLink, statPath } from './stamp.js';
import { findEscape } from './tree-links.js';

/** An entry found in a folder. `path` is relative, with slashes. Folders are listed only if they are empty. */
export type FoundEntry =
  /** `links`: stamps of the links that were followed to reach the file; '' if there were none. */
  | { readonly kind: 'file'; readonly path: string; readonly stat: FileStat; readonly links: string }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string };

export type TreeEntry =
  | { readonly kind: 'file'; readonly path: string; readonly digest: Digest; readonly sizeBytes: number; readonly executable: boolean }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string };

/**
 * Everything under `folder`, sorted by path.
 * `links`: 'follow' reads through symbolic links, like a reader of the folder does (a cycle is an error); 'keep' reports them.
 * @throws EngineError `folder-cycle`, `special-file`, `unreadable-name`.
 */
export function walkFolder(folder: string, links: 'follow' | 'keep'): readonly FoundEntry[] {
  const found: FoundEntry[] = [];
  walk(folder, '', { links, above: links === 'follow' ? [realpathSync(folder)] : [], via: '' }, found);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

interface Way {
  readonly links: 'follow' | 'keep';
  /** Real paths of the starting folder and of the folders that links led to. */
  readonly above: readonly string[];
  /** Stamps of these links. */
  readonly via: string;
}

function walk(folder: string, prefix: string, way: Way, found: FoundEntry[]): void {
  const { links } = way;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const relative = prefix + entry.name;
    if (entry.isSymbolicLink() && links === 'keep') {
      found.push({ kind: 'symlink', path: relative, target: readlinkSync(path) });
      continue;
    }
    const stat = links === 'follow' ? statPath(path) : statLink(path);
    if (stat === undefined) {
      // The entry was removed in the meantime, is a dangling link, or has a name that is not valid UTF-8.
      if (entry.name.includes('\ufffd') && statLink(path) === undefined) throw unreadableName(folder, entry.name);
      continue;
    }
    const via = entry.isSymbolicLink() ? way.via + stampsOfLinks(path) : way.via;
    if (stat.kind === 'file') found.push({ kind: 'file', path: relative, stat, links: via });
    else if (stat.kind === 'folder') {
      const above = entry.isSymbolicLink() ? [...way.above, realpathSync(path)] : way.above;
      walkInto(path, relative, { links, above, via }, found);
    } else
      throw new EngineError('special-file', `${path} is neither a file nor a folder`, {
        help: 'move it elsewhere: pipes, sockets and devices have no content',
      });
  }
}

function walkInto(path: string, relative: string, way: Way, found: FoundEntry[]): void {
  if (new Set(way.above).size < way.above.length)
    throw new EngineError('folder-cycle', `${path} is a link to a folder that it is in`, {
      help: 'remove the link, or name a folder without it',
    });
  const before = found.length;
  walk(path, `${relative}/`, way, found);
  if (found.length === before) found.push({ kind: 'folder', path: relative });
}

/** The stamps of everything in a folder, one per line. */
export function listStamps(entries: readonly FoundEntry[]): string {
  const lines = entries.map(entry => {
    if (entry.kind === 'file') return `${entry.path}\0${entry.stat.stamp}${entry.links === '' ? '' : `\0${entry.links}`}`;
    return entry.kind === 'symlink' ? `${entry.path}\0>${entry.target}` : `${entry.path}\0/`;
  });
  return lines.join('\n');
}

function unreadableName(folder: string, name: string): EngineError {
  return new EngineError('unreadable-name', `a name in ${folder} is not UTF-8 (it reads "${name}")`, { help: 'rename the file' });
}

/** The signature of a folder: equal if the stamps of everything in it are equal. */
export function signatureOf(entries: readonly FoundEntry[]): string {
  return digestBytes(listStamps(entries));
}

/** The canonical document of a folder. Its digest is the digest of the artifact. */
export function encodeTree(entries: readonly TreeEntry[]): string {
  return encodeCanonicalJson({ format: 1, entries: entries.map(entry => ({ ...entry })) });
}

/** The artifact of a folder. */
export function treeArtifact(entries: readonly TreeEntry[]): Artifact {
  const document = encodeTree(entries);
  const sizeBytes = entries.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.sizeBytes : 0), 0);
  return { kind: 'tree', digest: digestBytes(document), sizeBytes, treeSizeBytes: Buffer.byteLength(document), executable: false };
}

/**
 * Parses a document written by `encodeTree`. Paths that leave the folder are refused, so that a forged document cannot write elsewhere.
 * @returns undefined if it is not such a document.
 */
export function decodeTree(text: string): readonly TreeEntry[] | undefined {
  const document = parseJson(text);
  if (!isJsonObject(document) || document.format !== 1 || !Array.isArray(document.entries)) return undefined;
  const entries: TreeEntry[] = [];
  for (const value of document.entries) {
    const entry = isJsonObject(value) ? decodeEntry(value) : undefined;
    if (entry === undefined) return undefined;
    entries.push(entry);
  }
  return findEscape(entries) === undefined ? entries : undefined;
}

function decodeEntry(value: JsonObject): TreeEntry | undefined {
  const { kind, path } = value;
  if (typeof path !== 'string' || !isInnerPath(path)) return undefined;
  if (kind === 'folder') return { kind, path };
  if (kind === 'symlink') {
    return typeof value.target === 'string' && isInnerLink(path, value.target) ? { kind, path, target: value.target } : undefined;
  }
  const digest = parseDigest(value.digest);
  if (kind !== 'file' || digest === undefined || typeof value.sizeBytes !== 'number' || typeof value.executable !== 'boolean')
    return undefined;
  return { kind, path, digest, sizeBytes: value.sizeBytes, executable: value.executable };
}

/** `node:path` itself, of which a bundle would make a copy when it starts. */
function systemFlavor(): PlatformPath {
  return process.platform === 'win32' ? win32 : posix;
}

/** Whether a relative path with slashes stays inside its folder, by the rules of `flavor` (default: the current system). */
export function isInnerPath(path: string, flavor: PlatformPath = systemFlavor()): boolean {
  return path !== '' && path.split('/').every(part => part !== '' && part !== '.' && part !== '..' && isPlainName(part, flavor));
}

/**
 * On Windows "\\" separates path parts, ":" marks a drive or a stream, and some names are devices. On other systems these are ordinary
 * names.
 */
function isPlainName(name: string, { sep }: PlatformPath): boolean {
  return sep === '/' || !(/[\\:*?"<>|]|[. ]$/.test(name) || /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name));
}

/** Whether the target of a link at `path` (relative to the folder) is inside the folder. */
export function isInnerLink(path: string, target: string, flavor: PlatformPath = systemFlavor()): boolean {
  if (target.startsWith('/')) return false;
  let depth = path.split('/').length - 1;
  for (const part of target.split('/')) {
    if (part === '..') depth--;
    else if (part !== '.' && part !== '') {
      if (!isPlainName(part, flavor)) return false;
      depth++;
    }
    if (depth < 0) return false;
  }
  return true;
}
