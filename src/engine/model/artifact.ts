/** Content of artifacts and single blobs, identified by digest and size. */
import type { Digest } from '../../base/digest.js';
import { parseDigest } from '../../base/digest.js';
import type { Json } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import { findMeeting } from '../../stage/fold-name.js';

/** A file is identified by the digest of its bytes, a folder by the digest of its tree document. `sizeBytes` of a folder is the sum of its files. */
export interface Artifact {
  readonly kind: 'file' | 'tree';
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** For a folder: the size of its tree document. Absent in data written by Tanren 0.1. */
  readonly treeSizeBytes?: number;
  /** For a file: whether the owner may execute it. Always false for a folder, whose tree records it per file. */
  readonly executable: boolean;
}

/** One blob. `sizeBytes` is absent in data written by Tanren 0.1. */
export interface BlobRef {
  readonly digest: Digest;
  readonly sizeBytes?: number | undefined;
}

export type Artifacts = Readonly<Record<string, Artifact>>;

export type Contents = Readonly<Record<string, Content>>;

/** The content of an artifact, without its size. */
export type Content = Pick<Artifact, 'kind' | 'digest' | 'executable'>;

export function parseArtifact(value: Json | undefined): Artifact | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, sizeBytes, treeSizeBytes, executable } = value;
  const digest = parseDigest(value.digest);
  if ((kind !== 'file' && kind !== 'tree') || digest === undefined || !isByteCount(sizeBytes) || typeof executable !== 'boolean')
    return undefined;
  return { kind, digest, sizeBytes, ...(typeof treeSizeBytes === 'number' ? { treeSizeBytes } : {}), executable };
}

function isByteCount(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** The names become file names. They must stay inside their folder, and no two may coincide on any file system. */
function areFileNames(names: readonly string[]): boolean {
  return names.every(name => /^[^/\\\0]+$/.test(name) && name !== '.' && name !== '..') && findMeeting(names) === undefined;
}

/** Returns the artifact of every port, or undefined if one is malformed. */
export function parseArtifacts(value: Json | undefined): Artifacts | undefined {
  if (!isJsonObject(value) || !areFileNames(Object.keys(value))) return undefined;
  const artifacts: Record<string, Artifact> = {};
  for (const [port, member] of Object.entries(value)) {
    const artifact = parseArtifact(member);
    if (artifact === undefined) return undefined;
    artifacts[port] = artifact;
  }
  return artifacts;
}

/** Returns the artifacts as plain JSON. */
export function encodeArtifacts(artifacts: Artifacts): Json {
  return Object.fromEntries(Object.entries(artifacts).map(([port, artifact]) => [port, { ...artifact }]));
}

/** Whether both have the same bytes under the same ports. */
export function sameArtifacts(a: Artifacts, b: Artifacts): boolean {
  return differingPorts(a, b).length === 0;
}

export function differingPorts(a: Artifacts, b: Artifacts): readonly string[] {
  const ports = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return ports.filter(port => a[port]?.digest !== b[port]?.digest || a[port]?.executable !== b[port]?.executable);
}
