/** The index of a stage's packs in a remote cache: an entry that each writer extends. It lists the parts of each pack by key. */
import { digestJson } from '../../../base/digest.js';
import { encodeCanonicalJson } from '../../../base/json/canonical-json.js';
import { formatJsonProblems, readJsonShape } from '../../../base/json/json-shape.js';
import { parseJson } from '../../../base/json.js';
import { anyList, constant, integer, openObject } from '../../../base/schema/build-schema.js';
import { DIGEST_SCHEMA } from '../../../base/schema/digest-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { damaged } from '../../../remote/error/remote-error.js';
import type { BlobDigest } from '../../../remote/transport/remote-cache.js';
import { ACTION_RESULT, type OutputFile, type WireResult } from '../../../remote/wire/reapi.js';
import { parseKey } from './part-pack.js';

/** Larger messages are refused before they are read. */
export const MOST_INDEX_BYTES = 64 << 20;
export const MOST_PACK_BYTES = 256 << 20;
export const MOST_PACKS = 64;

export interface Pack {
  readonly blob: BlobDigest;
  /** Keys of its parts. */
  readonly parts: readonly string[];
}

const INDEX = 'index';

const PACK_INDEX = openObject({
  format: constant(1),
  packs: anyList(openObject({ hash: DIGEST_SCHEMA, sizeBytes: integer(0), parts: anyList(DIGEST_SCHEMA, 'Keys of its parts.') })),
});

const reader = readerOf(PACK_INDEX);

/** The key of a stage's index. Stages of the same name and plugin share it; their parts have other keys. */
export function indexKeyOf(stage: string, plugin: string): string {
  return digestJson({ format: 1, packs: { stage, plugin } });
}

export function encodeIndex(packs: readonly Pack[]): Uint8Array {
  return Buffer.from(encodeCanonicalJson({ format: 1, packs: packs.map(({ blob, parts }) => ({ ...blob, parts: [...parts].sort() })) }));
}

/** @throws RemoteError `remote-damaged`. */
export function decodeIndex(bytes: Uint8Array, named: ReadonlySet<string>): readonly Pack[] {
  const index = readJsonShape(reader, parseJson(Buffer.from(bytes).toString()));
  if (index.kind === 'problems') throw damaged(`an index of packs cannot be read: ${formatJsonProblems(index.problems)[0]}`);
  const { packs } = index.value;
  if (packs.length > MOST_PACKS) throw damaged(`an index of packs has ${packs.length} packs`);
  return packs.map(({ hash, sizeBytes, parts }) => {
    if (!named.has(hash)) throw damaged('an index of packs has a pack that its result lacks');
    if (sizeBytes > MOST_PACK_BYTES) throw damaged(`an index names a pack of ${sizeBytes} bytes`);
    return { blob: { hash, sizeBytes }, parts };
  });
}

/** The result that names the index and all packs, so that a server keeps them together. */
export function resultOfIndex(index: BlobDigest, packs: readonly Pack[], signature: Uint8Array = new Uint8Array(0)): WireResult {
  const file = (path: string, digest: BlobDigest): OutputFile => ({ path, digest, isExecutable: false, contents: new Uint8Array(0) });
  const outputFiles = [file(INDEX, index), ...packs.map(({ blob }, at) => file(`packs/${String(at).padStart(3, '0')}`, blob))];
  return ACTION_RESULT.decode(ACTION_RESULT.encode({ outputFiles, stderrRaw: signature, executionMetadata: { worker: 'tanren' } }));
}

/** @throws RemoteError `remote-damaged`. */
export function readIndexResult({ outputFiles, exitCode }: WireResult): {
  readonly index: BlobDigest;
  readonly named: ReadonlySet<string>;
} {
  const index = outputFiles.find(({ path }) => path === INDEX)?.digest;
  const hash = parseKey(index?.hash);
  if (exitCode !== 0 || index === undefined || hash === undefined || index.sizeBytes < 0 || index.sizeBytes > MOST_INDEX_BYTES)
    throw damaged('the result of an index of packs cannot be read');
  return {
    index: { hash, sizeBytes: index.sizeBytes } as BlobDigest,
    named: new Set(outputFiles.flatMap(({ digest }) => digest?.hash ?? [])),
  };
}
