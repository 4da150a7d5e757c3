/** Content of artifacts and single blobs, identified by digest and size. */
import type { Digest } from '../../base/digest.js';
import { readJsonShape } from '../../base/json/json-shape.js';
import type { Json } from '../../base/json.js';
import { flag, integer, mapOf, matching, oneOf, openObject } from '../../base/schema/build-schema.js';
import { DIGEST_SCHEMA } from '../../base/schema/digest-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { findMeeting } from '../../stage/fold-name.js';

const ARTIFACT = openObject(
  {
    kind: oneOf(['file', 'tree']),
    digest: DIGEST_SCHEMA,
    sizeBytes: integer(0, 'Of a folder: the sum of its files.'),
    executable: flag('Of a file: whether the owner may execute it. Always false for a folder, whose tree records it per file.'),
  },
  { treeSizeBytes: integer(0, 'Of a folder: the size of its tree document. Absent in data written by Tanren 0.1.') },
);

/** A file is identified by the digest of its bytes, a folder by the digest of its tree document. */
export type Artifact = FromSchema<typeof ARTIFACT>;

/** One blob. `sizeBytes` is absent in data written by Tanren 0.1. */
export interface BlobRef {
  readonly digest: Digest;
  readonly sizeBytes?: number | undefined;
}

/** By port. The names become file names. */
export const ARTIFACTS = mapOf(ARTIFACT, { names: matching(/^(?!\.{1,2}$)[^/\\\0]+$/, 'a file name') });

export type Artifacts = FromSchema<typeof ARTIFACTS>;

export type Contents = Readonly<Record<string, Content>>;

/** The content of an artifact, without its size. */
export type Content = Pick<Artifact, 'kind' | 'digest' | 'executable'>;

const artifactReader = readerOf(ARTIFACT);

/** @returns undefined if it is malformed. */
export function parseArtifact(value: Json | undefined): Artifact | undefined {
  const read = readJsonShape(artifactReader, value);
  return read.kind === 'ok' ? read.value : undefined;
}

/** Whether no two names of ports coincide on any file system. */
export function haveFileNames(artifacts: Artifacts): boolean {
  return findMeeting(Object.keys(artifacts)) === undefined;
}

/** Whether both have the same bytes under the same ports. */
export function sameArtifacts(a: Artifacts, b: Artifacts): boolean {
  return differingPorts(a, b).length === 0;
}

export function differingPorts(a: Artifacts, b: Artifacts): readonly string[] {
  const ports = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return ports.filter(port => a[port]?.digest !== b[port]?.digest || a[port]?.executable !== b[port]?.executable);
}
