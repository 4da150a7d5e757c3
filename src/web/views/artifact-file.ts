/** The bytes of an artifact: a file of a stage's outputs, and nothing outside of them. */
import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { hasCode, isMissing } from '../../base/system-error.js';
import { artifactPath } from '../../engine/model/artifact-path.js';
import type { Plan, StageId } from '../../engine/model/plan.js';
import { ARTIFACT_HEADERS } from '../access/security-headers.js';
import { type Answer, jsonAnswer } from '../http/answer.js';
import { RequestError } from '../http/read-body.js';

/** Larger files are for other tools. */
export const MOST_FILE_BYTES = 256_000_000;

const MOST_ENTRIES = 10_000;

/**
 * The path of an output, or of a file in an output folder.
 * @throws RequestError `ui-not-found` for an unknown stage, port or file, and for every path that leads out of the output.
 */
export function findArtifact(plan: Plan, stage: string, port: string, inner: string | undefined): string {
  const planned = plan.stages.get(stage as StageId);
  if (planned === undefined || !Object.hasOwn(planned.outputPorts, port)) throw notFound(`${stage}.${port}`);
  return findInside(join(plan.projectFolder, artifactPath(plan, planned, port)), inner, `${stage}.${port}`);
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

/** The content of a file, or the list of the files of a folder. @throws RequestError. */
export function answerArtifact(path: string): Answer {
  const stats = statSync(path);
  if (stats.isDirectory()) return jsonAnswer({ files: listFolder(path) });
  const body = readRegular(path);
  const headers = { ...ARTIFACT_HEADERS, 'content-type': typeOf(path), 'cache-control': 'no-store' };
  return { status: 200, headers, body };
}

/** A pipe or device in the place of a file is not read. */
export function readRegular(path: string): Buffer {
  if (!statSync(path).isFile()) throw notFound(path);
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size > MOST_FILE_BYTES)
      throw new RequestError(413, 'ui-too-large', `${path} has ${size} bytes: the page reads at most ${MOST_FILE_BYTES}`);
    const bytes = Buffer.alloc(size);
    let length = 0;
    for (let read = -1; read !== 0 && length < size; length += read) read = readSync(file, bytes, length, size - length, length);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function typeOf(path: string): string {
  if (path.endsWith('.json')) return 'application/json; charset=utf-8';
  return /\.(txt|log|csv|md|py)$/.test(path) ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}

/** Files below a folder, without following links, with slashes. */
function listFolder(folder: string): readonly { readonly path: string; readonly sizeBytes: number }[] {
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
