/**
 * A result as an entry of a remote cache: an ActionResult under the digest of a small Action, whose Command holds the action key.
 * The record and the log are output files of it, because servers keep what a result names together.
 */
import { digestBytes, digestJson } from '../../../base/digest.js';
import type { JsonObject } from '../../../base/json.js';
import { damaged } from '../../../remote/error/remote-error.js';
import type { BlobDigest, BlobSource } from '../../../remote/transport/remote-cache.js';
import {
  ACTION,
  ACTION_RESULT,
  COMMAND,
  DIRECTORY,
  type OutputFile,
  type WireDigest,
  type WireResult,
} from '../../../remote/wire/reapi.js';
import type { Artifact } from '../../model/artifact.js';
import { type ActionResult, decodeRecord, encodeRecord } from '../action-records.js';
import type { BlobStore } from '../blob-store.js';
import { decodeTree, encodeTree, type TreeEntry } from '../files/tree.js';
import { NO_REMOTE_CONTENT, type RemoteContent } from './remote-content.js';
import { decodeTreeMessage, encodeTreeMessage } from './tree-message.js';

/** The format of entries. Another format gives other actions, so that old and new versions never meet. */
const FORMAT = '1';

/** Larger records are read separately. */
const MOST_INLINE_BYTES = 64 << 10;

const RECORD = 'record';
const LOG = 'log';
const PARTS = 'parts';
const OUTPUTS = 'outputs/';

/** The action of a key, with the messages that it consists of. @param salt separates entries of one cache from others of equal keys. */
export function actionOf(
  key: string,
  salt: string,
  holds: 'result' | 'parts' = 'result',
): { readonly action: BlobDigest; readonly blobs: readonly (BlobSource & { readonly bytes: Uint8Array })[] } {
  const outputPaths = holds === 'result' ? [RECORD] : ['index'];
  const command = blobOf(COMMAND.encode({ arguments: ['tanren', holds, FORMAT, key], outputPaths }));
  const root = blobOf(DIRECTORY.encode({}));
  const action = blobOf(ACTION.encode({ commandDigest: digestOf(command), inputRootDigest: digestOf(root), salt: Buffer.from(salt) }));
  return { action: digestOf(action), blobs: [command, root, action] };
}

export function blobOf(bytes: Uint8Array): BlobSource & { readonly bytes: Uint8Array } {
  return { hash: digestBytes(bytes), sizeBytes: bytes.length, bytes };
}

function digestOf({ hash, sizeBytes }: BlobDigest): BlobDigest {
  return { hash, sizeBytes };
}

export interface Entry {
  readonly result: WireResult;
  /** Everything that the result names. */
  readonly blobs: readonly BlobSource[];
  /** What it names and only the server has. */
  readonly there: readonly BlobDigest[];
}

/** @param remote what may be on the server alone. @param signRecord the signature of the record. @returns undefined if some of the result is nowhere. */
export async function encodeEntry(
  store: BlobStore,
  manifest: JsonObject,
  result: ActionResult,
  remote: RemoteContent = NO_REMOTE_CONTENT,
  signRecord: (record: BlobDigest) => Uint8Array = () => new Uint8Array(0),
): Promise<Entry | undefined> {
  const blobs: BlobSource[] = [];
  const there: BlobDigest[] = [];
  const outputFiles: Partial<OutputFile>[] = [];
  const outputDirectories: WireResult['outputDirectories'][number][] = [];
  const addFile = async (digest: Artifact['digest'], sizeBytes: number): Promise<boolean> => {
    const path = await store.locate(digest);
    if (path !== undefined) blobs.push({ hash: digest, sizeBytes, path });
    else if (remote.blobs.has(digest)) there.push({ hash: digest, sizeBytes });
    return path !== undefined || remote.blobs.has(digest);
  };
  for (const [port, { kind, digest, sizeBytes, executable }] of Object.entries(result.outputs)) {
    if (kind === 'file') {
      if (!(await addFile(digest, sizeBytes))) return undefined;
      outputFiles.push({ path: OUTPUTS + port, digest: { hash: digest, sizeBytes }, isExecutable: executable });
      continue;
    }
    const entries = decodeTree((await store.read(digest))?.toString() ?? remote.documents.get(digest) ?? '');
    if (entries === undefined) return undefined;
    for (const entry of entries) if (entry.kind === 'file' && !(await addFile(entry.digest, entry.sizeBytes))) return undefined;
    const tree = encodeTreeMessage(entries);
    const treeBlob = blobOf(tree.bytes);
    blobs.push(treeBlob);
    outputDirectories.push({ path: OUTPUTS + port, treeDigest: digestOf(treeBlob), rootDirectoryDigest: tree.root });
  }
  for (const [path, ref] of [[LOG, result.log] as const, [PARTS, result.parts] as const]) {
    const bytes = ref === undefined ? undefined : await store.read(ref.digest);
    if (ref !== undefined && bytes === undefined) return undefined;
    if (bytes === undefined) continue;
    blobs.push(blobOf(bytes));
    outputFiles.push({ path, digest: digestOf(blobOf(bytes)) });
  }
  const record = blobOf(Buffer.from(encodeRecord({ manifest, results: [result] })));
  blobs.push(record);
  outputFiles.push({ path: RECORD, digest: digestOf(record) });
  const sorted = outputFiles.sort((a, b) => ((a.path ?? '') < (b.path ?? '') ? -1 : 1));
  const files = sorted.map(file => ({ isExecutable: false, contents: new Uint8Array(0), ...file }));
  // The record is also in the message itself, which saves a call per hit. Its digest is checked there too.
  const stdoutRaw = record.sizeBytes <= MOST_INLINE_BYTES ? { stdoutRaw: record.bytes } : {};
  // A message with a worker is never empty, and an empty one would be a miss for some servers.
  const message = {
    outputFiles: files as OutputFile[],
    outputDirectories,
    ...stdoutRaw,
    stderrRaw: signRecord(record),
    executionMetadata: { worker: 'tanren' },
  };
  return { result: ACTION_RESULT.decode(ACTION_RESULT.encode(message)), blobs, there };
}

/** What an entry names, as far as the result alone shows it. */
export interface EntryHead {
  readonly record: BlobDigest;
  /** The record's bytes, if the server sent them with the result. */
  readonly inline: Uint8Array | undefined;
  /** Tree messages by path. */
  readonly trees: ReadonlyMap<string, BlobDigest>;
  readonly files: ReadonlyMap<string, OutputFile & { readonly digest: BlobDigest }>;
}

/** @throws RemoteError `remote-damaged` if the result is none of ours. */
export function readHead(result: WireResult): EntryHead {
  if (result.exitCode !== 0) throw damaged(`the result states exit code ${result.exitCode}`);
  const files = new Map<string, OutputFile & { readonly digest: BlobDigest }>();
  for (const file of result.outputFiles) files.set(file.path, { ...file, digest: checkDigest(file.digest, file.path) });
  if (files.size < result.outputFiles.length) throw damaged('the result names a file twice');
  const trees = new Map(result.outputDirectories.map(({ path, treeDigest }) => [path, checkDigest(treeDigest, path)]));
  if (trees.size < result.outputDirectories.length) throw damaged('the result names a folder twice');
  const record = files.get(RECORD);
  if (record === undefined) throw damaged('the result has no record');
  return { record: record.digest, inline: inlineOf(record, result.stdoutRaw), trees, files };
}

/** The record, if it came with the result. A server that puts its own text there gives none. */
function inlineOf(record: OutputFile & { readonly digest: BlobDigest }, stdoutRaw: Uint8Array): Uint8Array | undefined {
  if (record.contents.length > 0) return record.contents;
  const { hash, sizeBytes } = record.digest;
  return stdoutRaw.length === sizeBytes && digestBytes(stdoutRaw) === hash ? stdoutRaw : undefined;
}

function checkDigest(digest: WireDigest | undefined, path: string): BlobDigest {
  if (digest === undefined || !/^[0-9a-f]{64}$/.test(digest.hash) || digest.sizeBytes < 0)
    throw damaged(`the result has no digest for ${JSON.stringify(path)}`);
  return digest as BlobDigest;
}

export interface ReadEntry {
  readonly manifest: JsonObject;
  readonly result: ActionResult;
  /** Files of the result, each once. */
  readonly blobs: readonly BlobDigest[];
  /** Tree documents, which are made here and not downloaded. */
  readonly documents: readonly string[];
}

/**
 * The result that an entry holds. Its record must be of the key, and must state what the result names.
 * @param trees bytes of the Tree messages by hash.
 * @throws RemoteError `remote-damaged`.
 */
export function readEntry(key: string, head: EntryHead, record: Uint8Array, trees: ReadonlyMap<string, Uint8Array>): ReadEntry {
  const found = decodeRecord(Buffer.from(record).toString());
  const result = found?.results.at(-1);
  if (found === undefined || result === undefined) throw damaged('its record cannot be read');
  if (digestJson(found.manifest) !== key) throw damaged('its record is that of another action');
  const blobs = new Map<string, BlobDigest>();
  const documents: string[] = [];
  const add = (blob: BlobDigest): void => void blobs.set(blob.hash, blob);
  for (const [port, artifact] of Object.entries(result.outputs)) {
    if (artifact.kind === 'file') add(checkFile(head, OUTPUTS + port, artifact));
    else {
      const entries = checkTree(head, OUTPUTS + port, artifact, trees);
      documents.push(encodeTree(entries));
      for (const entry of entries) if (entry.kind === 'file') add({ hash: entry.digest, sizeBytes: entry.sizeBytes });
    }
  }
  const named = Object.keys(result.outputs).length;
  if ([...head.files.keys(), ...head.trees.keys()].filter(path => path.startsWith(OUTPUTS)).length !== named)
    throw damaged('the result has outputs that its record lacks');
  for (const [path, ref] of [[LOG, result.log] as const, [PARTS, result.parts] as const]) {
    if (ref === undefined) continue;
    const file = head.files.get(path);
    if (file === undefined || file.digest.hash !== ref.digest) throw damaged(`its ${path} is not the one of its record`);
    add(file.digest);
  }
  return { manifest: found.manifest, result, blobs: [...blobs.values()], documents };
}

function checkFile({ files }: EntryHead, path: string, artifact: Artifact): BlobDigest {
  const file = files.get(path);
  const same =
    file?.digest.hash === artifact.digest && file.digest.sizeBytes === artifact.sizeBytes && file.isExecutable === artifact.executable;
  if (file === undefined || !same) throw damaged(`its record has another file than the result at ${JSON.stringify(path)}`);
  return file.digest;
}

function checkTree(head: EntryHead, path: string, artifact: Artifact, trees: ReadonlyMap<string, Uint8Array>): readonly TreeEntry[] {
  const digest = head.trees.get(path);
  const bytes = digest === undefined ? undefined : trees.get(digest.hash);
  if (bytes === undefined) throw damaged(`the result has no folder at ${JSON.stringify(path)}`);
  const entries = decodeTreeMessage(bytes);
  if (digestBytes(encodeTree(entries)) !== artifact.digest)
    throw damaged(`its record has another folder than the result at ${JSON.stringify(path)}`);
  return entries;
}
