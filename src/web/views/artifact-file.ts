/** The bytes of an artifact: a file of a stage's outputs, and nothing outside of them. */
import { closeSync, createReadStream, fstatSync, lstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { Readable } from 'node:stream';
import type { Digest } from '../../base/digest.js';
import { hasCode, isMissing } from '../../base/system-error.js';
import type { Artifact } from '../../engine/model/artifact.js';
import { artifactPath } from '../../engine/model/artifact-path.js';
import type { Plan, StageId } from '../../engine/model/plan.js';
import type { CacheFolder } from '../../engine/store/cache-folder.js';
import { decodeTree } from '../../engine/store/files/tree.js';
import { openStores } from '../../engine/store/shared-cache.js';
import { ARTIFACT_HEADERS } from '../access/security-headers.js';
import { type Answer, jsonAnswer } from '../http/answer.js';
import { RequestError } from '../http/read-body.js';
import type { ProjectState } from '../project/live-project.js';
import { asRows, type ByteRange, parseByteRange } from './coco-rows.js';

/** Larger files are for other tools. */
export const MOST_FILE_BYTES = 256_000_000;

const MOST_ENTRIES = 10_000;

/** Where the bytes of an output are: `name` is that of the file under artifacts/, whose extension says what it is. */
export type FoundArtifact =
  | { readonly kind: 'file'; readonly path: string; readonly name: string }
  | { readonly kind: 'folder'; readonly files: readonly FolderFile[] };

export interface FolderFile {
  readonly path: string;
  readonly sizeBytes: number;
}

type Places = Pick<ProjectState, 'results' | 'cache'>;

/**
 * An output, or a file in an output folder: under artifacts/, or in the cache where no build has placed it, or it was removed.
 * @throws RequestError `ui-not-found` for an unknown stage, port or file, and for every path that leads out of the output.
 */
export async function findArtifact(
  plan: Plan,
  { results, cache }: Places,
  stage: string,
  port: string,
  inner: string | undefined,
): Promise<FoundArtifact> {
  const planned = plan.stages.get(stage as StageId);
  if (planned === undefined || !Object.hasOwn(planned.outputPorts, port)) throw notFound(`${stage}.${port}`);
  const at = artifactPath(plan, planned, port);
  const result = results.get(stage);
  const place = join(plan.projectFolder, at);
  const artifact = result === undefined || !Object.hasOwn(result.outputs, port) ? undefined : result.outputs[port];
  const isPlaced = artifact === undefined || (result?.at === 'artifacts' && realOf(place) !== undefined);
  if (!isPlaced) return findInCache(cache, artifact, inner, at);
  const path = findInside(place, inner, `${stage}.${port}`);
  return foundAt(path);
}

/** The output folder of a stage with one output, under artifacts/. @throws RequestError `ui-not-found`, also where only the cache has it. */
export function findFolder(plan: Plan, { results }: Pick<Places, 'results'>, stage: string): string {
  const planned = plan.stages.get(stage as StageId);
  const [port, ...others] = Object.keys(planned?.outputPorts ?? {});
  if (planned === undefined || port === undefined || others.length > 0) throw notFound(stage);
  if (results.get(stage)?.at === 'cache')
    throw new RequestError(404, 'ui-not-found', `only the cache has the result of ${stage}`, 'build the stage: its output is restored');
  const path = findInside(join(plan.projectFolder, artifactPath(plan, planned, port)), undefined, stage);
  if (!statSync(path).isDirectory()) throw notFound(stage);
  return path;
}

/**
 * Content of an output in the cache, or a file in it. A blob is verified before its path is given. @param at the name of the output, for messages.
 * @throws RequestError `ui-not-found`.
 */
export async function findInCache(cache: CacheFolder, artifact: Artifact, inner: string | undefined, at: string): Promise<FoundArtifact> {
  const { store } = openStores(cache, 'read', 'copies', () => undefined);
  const locate = async (digest: Digest, name: string): Promise<FoundArtifact> => {
    const path = await store.locate(digest);
    if (path === undefined) throw notFound(name);
    return { kind: 'file', path, name };
  };
  if (artifact.kind === 'file') {
    if (inner !== undefined && inner !== '') throw notFound(`${at}/${inner}`);
    return locate(artifact.digest, at);
  }
  const bytes = await store.read(artifact.digest);
  const tree = bytes === undefined ? undefined : decodeTree(bytes.toString());
  if (tree === undefined) throw notFound(at);
  const files = tree.filter(entry => entry.kind === 'file');
  if (inner === undefined || inner === '')
    return { kind: 'folder', files: files.slice(0, MOST_ENTRIES).map(({ path, sizeBytes }) => ({ path, sizeBytes })) };
  const file = files.find(({ path }) => path === inner);
  if (file === undefined) throw notFound(`${at}/${inner}`);
  return locate(file.digest, inner);
}

/**
 * The real path of `base`, or of a file in that folder. @param inner with slashes; undefined for `base` itself.
 * @throws RequestError `ui-not-found`, also for a path that leads out of the folder, through links too.
 */
export function findInside(base: string, inner: string | undefined, name: string): string {
  const parts = inner === undefined || inner === '' ? [] : inner.split('/');
  if (parts.some(part => part === '' || part === '.' || part === '..' || /[\0\\]/.test(part))) throw notFound(inner ?? '');
  const [realBase, real] = [realOf(base), realOf(join(base, ...parts))];
  if (realBase === undefined || real === undefined) throw notFound(inner === undefined ? name : `${name}/${inner}`);
  // The base itself may be a link, where artifacts are links to the store. What is inside may not lead out of it.
  if (real !== realBase && !real.startsWith(realBase + sep)) throw notFound(inner ?? '');
  return real;
}

function notFound(what: string): RequestError {
  return new RequestError(404, 'ui-not-found', `${what} is not there`, 'build the stage: its outputs may be missing or older');
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isMissing(error) || hasCode(error, 'EACCES')) return undefined;
    throw error;
  }
}

/** How a file is answered; absent: as it is. */
export interface FileForm {
  /** A COCO file as rows. */
  readonly as?: 'rows' | undefined;
  readonly bytes?: ByteRange | undefined;
  /** The stamp of the file that the client knows: the header "tanren-stamp" of an answer. */
  readonly known?: string | undefined;
}

/** @throws RequestError as `parseByteRange`. */
export function parseFileForm(query: URLSearchParams): FileForm {
  const bytes = query.get('bytes');
  return {
    as: query.get('as') === 'rows' ? 'rows' : undefined,
    bytes: bytes === null ? undefined : parseByteRange(bytes),
    known: query.get('known') ?? undefined,
  };
}

/** The content of a file, or the list of the files of a folder. @throws RequestError, `ui-file-changed` among them. */
export function answerArtifact(found: FoundArtifact, form: FileForm = {}): Answer {
  if (found.kind === 'folder') return jsonAnswer({ files: found.files });
  const { body, stamp } = openRegular(found.path, form);
  const type = form.as === 'rows' ? BINARY : typeOf(found.name);
  const headers = { ...ARTIFACT_HEADERS, 'content-type': type, 'cache-control': 'no-store', 'tanren-stamp': stamp };
  return { status: 200, headers, body: form.as === 'rows' ? asRows(body) : body };
}

/** What is at a path outside of artifacts/. */
export function foundAt(path: string): FoundArtifact {
  return statSync(path).isDirectory() ? { kind: 'folder', files: listFolder(path) } : { kind: 'file', path, name: path };
}

/** Larger files are read while they are sent, so that they are never in memory as a whole. */
const MOST_READ_BYTES = 1_000_000;
const PIECE_BYTES = 1 << 18;

interface OpenedFile {
  readonly body: Buffer | Readable;
  readonly stamp: string;
}

/**
 * The content of a file, or some of its bytes. A pipe or device in the place of a file is not read.
 * @throws RequestError `ui-not-found`, `ui-too-large`, and `ui-file-changed` where it is not the known one.
 */
export function openRegular(path: string, { bytes: range, known }: Pick<FileForm, 'bytes' | 'known'> = {}): OpenedFile {
  if (!statSync(path).isFile()) throw notFound(path);
  const file = openSync(path, 'r');
  let stream: Readable | undefined;
  try {
    const stats = fstatSync(file, { bigint: true });
    const stamp = `${stats.ino}-${stats.size}-${stats.mtimeNs}`;
    if (known !== undefined && known !== stamp)
      throw new RequestError(412, 'ui-file-changed', `${path} has changed since the page read it`, 'reload the page');
    const whole = Number(stats.size);
    if (whole > MOST_FILE_BYTES)
      throw new RequestError(413, 'ui-too-large', `${path} has ${whole} bytes: the page reads at most ${MOST_FILE_BYTES}`);
    const { start, end } = { start: Math.min(range?.start ?? 0, whole), end: Math.min(range?.end ?? whole, whole) };
    const size = end - start;
    if (size > MOST_READ_BYTES) {
      // A file that grows meanwhile is not followed.
      stream = createReadStream(path, { fd: file, start, end: end - 1, highWaterMark: PIECE_BYTES });
      return { body: stream, stamp };
    }
    const bytes = Buffer.alloc(size);
    let length = 0;
    for (let read = -1; read !== 0 && length < size; length += read) read = readSync(file, bytes, length, size - length, start + length);
    return { body: bytes.subarray(0, length), stamp };
  } finally {
    // A stream closes its file by itself.
    if (stream === undefined) closeSync(file);
  }
}

const BINARY = 'application/octet-stream';

function typeOf(path: string): string {
  if (path.endsWith('.json')) return 'application/json; charset=utf-8';
  return /\.(txt|log|csv|md|py)$/.test(path) ? 'text/plain; charset=utf-8' : BINARY;
}

/** Files below a folder, without following links, with slashes. */
function listFolder(folder: string): readonly FolderFile[] {
  const files: { path: string; sizeBytes: number }[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || files.length >= MOST_ENTRIES) continue;
    const path = join(entry.parentPath, entry.name);
    files.push({
      path: path
        .slice(folder.length + 1)
        .split(sep)
        .join('/'),
      sizeBytes: lstatSync(path).size,
    });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}
