/** Comparison of two results of one action, file by file, down to the first different byte. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { assertNever } from '../../base/assert-never.js';
import type { CollectedOutput } from '../execute/collect.js';
import type { Artifact } from '../model/artifact.js';
import type { Difference } from '../model/check-result.js';
import type { TreeEntry } from '../store/files/tree.js';

/** The first result, with access to its bytes. */
export interface FirstResult {
  readonly outputs: Readonly<Record<string, Artifact>>;
  /** Returns the entries of a folder. */
  findTree(artifact: Artifact): Promise<readonly TreeEntry[] | undefined>;
  /** Returns a path with the bytes of a digest. `published`: the file's path under artifacts/<stage>/. */
  findFile(digest: string, published: string): string | undefined;
}

/** Maximum number of reported entries per output. */
const NAMED = 20;

/** @param names the name of each port under artifacts/<stage>/. */
export async function findDifferences(
  first: FirstResult,
  second: Readonly<Record<string, CollectedOutput>>,
  names: Readonly<Record<string, string>>,
): Promise<readonly Difference[]> {
  const found: Difference[] = [];
  for (const port of [...new Set([...Object.keys(first.outputs), ...Object.keys(second)])].sort()) {
    const path = names[port] ?? port;
    const before = first.outputs[port];
    const after = second[port];
    if (before === undefined) found.push({ kind: 'new', path });
    else if (after === undefined) found.push({ kind: 'missing', path });
    else found.push(...(await compareOutputs(first, path, before, after)));
  }
  return found;
}

async function compareOutputs(first: FirstResult, path: string, before: Artifact, after: CollectedOutput): Promise<readonly Difference[]> {
  const { artifact } = after;
  if (before.digest === artifact.digest && before.executable === artifact.executable) return [];
  if (before.kind !== artifact.kind || before.digest === artifact.digest) {
    return [{ kind: 'form', path, forms: [formOf(before), formOf(artifact)] }];
  }
  if (after.tree === undefined) return [await compareFiles(first, path, before.digest, after.path)];
  const tree = await first.findTree(before);
  return tree === undefined ? [{ kind: 'unread', path }] : compareTrees(first, path, tree, { ...after, tree: after.tree });
}

async function compareTrees(
  first: FirstResult,
  path: string,
  before: readonly TreeEntry[],
  after: CollectedOutput & { readonly tree: readonly TreeEntry[] },
): Promise<readonly Difference[]> {
  const found: Difference[] = [];
  const seconds = new Map(after.tree.map(entry => [entry.path, entry]));
  const firsts = new Map(before.map(entry => [entry.path, entry]));
  for (const inner of [...new Set([...firsts.keys(), ...seconds.keys()])].sort()) {
    if (found.length >= NAMED) break;
    const one = firsts.get(inner);
    const two = seconds.get(inner);
    const at = `${path}/${inner}`;
    if (one === undefined) found.push({ kind: 'new', path: at });
    else if (two === undefined) found.push({ kind: 'missing', path: at });
    else if (formOfEntry(one) !== formOfEntry(two)) found.push({ kind: 'form', path: at, forms: [formOfEntry(one), formOfEntry(two)] });
    else if (one.kind === 'file' && two.kind === 'file' && one.digest !== two.digest)
      found.push(await compareFiles(first, at, one.digest, join(after.path, inner)));
  }
  return found;
}

function formOf({ kind, executable }: Artifact): string {
  if (kind === 'tree') return 'a folder';
  return executable ? 'an executable file' : 'a file';
}

function formOfEntry(entry: TreeEntry): string {
  switch (entry.kind) {
    case 'file':
      return entry.executable ? 'an executable file' : 'a file';
    case 'folder':
      return 'an empty folder';
    case 'symlink':
      return `a link to ${entry.target}`;
    default:
      return assertNever(entry);
  }
}

async function compareFiles(first: FirstResult, path: string, digest: string, second: string): Promise<Difference> {
  const from = first.findFile(digest, path);
  if (from === undefined) return { kind: 'unread', path };
  return { kind: 'bytes', path, ...(await findFirstByte(from, second)) };
}

const CHUNK_BYTES = 1 << 20;

/** Returns the offset of the first different byte. Neither file is read into memory as a whole. */
export async function findFirstByte(a: string, b: string): Promise<{ offset: number; sizes: readonly [number, number] }> {
  const files = [await open(a, 'r'), await open(b, 'r')] as const;
  try {
    const sizes = [(await files[0].stat()).size, (await files[1].stat()).size] as const;
    const shorter = Math.min(...sizes);
    const [left, right] = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)];
    for (let start = 0; start < shorter; start += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, shorter - start);
      await files[0].read(left, 0, length, start);
      await files[1].read(right, 0, length, start);
      if (left.compare(right, 0, length, 0, length) === 0) continue;
      for (let i = 0; i < length; i++) if (left[i] !== right[i]) return { offset: start + i, sizes };
    }
    return { offset: shorter, sizes };
  } finally {
    for (const file of files) await file.close();
  }
}
