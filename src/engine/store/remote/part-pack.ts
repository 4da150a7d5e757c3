/**
 * A pack: records of parts and their files in one blob, since a stage has thousands of small parts.
 * `tanren-pack 1`, a line with the length of the table, the table as JSON, and the bytes of all blobs in its order.
 */
import { digestBytes, digestJson, parseDigest } from '../../../base/digest.js';
import { encodeCanonicalJson } from '../../../base/json/canonical-json.js';
import { formatJsonProblems, readJsonShape } from '../../../base/json/json-shape.js';
import { parseJson } from '../../../base/json.js';
import { anyList, integer, openObject, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { damaged } from '../../../remote/error/remote-error.js';
import { type ActionRecord, decodeRecord, encodeRecord } from '../action-records.js';
import type { BlobStore } from '../blob-store.js';

const MAGIC = 'tanren-pack 1\n';

const TABLE = anyList(
  openObject({ record: text('The action record of the part.'), sizes: anyList(integer(0), 'Of its files, in the order of the record.') }),
);

const reader = readerOf(TABLE);

export interface PackedPart {
  readonly key: string;
  readonly record: ActionRecord;
  /** The bytes of its files, each once. */
  readonly blobs: readonly Uint8Array[];
}

/** The part as the local cache has it; undefined if something of it is missing, or if it is no part. */
export async function readPart(
  store: BlobStore,
  key: string,
  found: ActionRecord | 'damaged' | undefined,
): Promise<PackedPart | undefined> {
  const result = found === undefined || found === 'damaged' ? undefined : found.results.at(-1);
  if (found === undefined || found === 'damaged' || result === undefined || !isPart(found)) return undefined;
  const blobs: Uint8Array[] = [];
  for (const digest of digestsOf(found)) {
    const bytes = await store.read(digest);
    if (bytes === undefined) return undefined;
    blobs.push(bytes);
  }
  return { key, record: { manifest: found.manifest, results: [result] }, blobs };
}

function isPart({ manifest }: ActionRecord): boolean {
  return typeof manifest.part === 'string' && manifest.plugin === undefined;
}

/** Digests of the files of the newest result, each once. */
function digestsOf({ results }: ActionRecord): ReturnType<typeof digestBytes>[] {
  return [...new Set(Object.values(results.at(-1)?.outputs ?? {}).map(({ digest }) => digest))];
}

/** Equal parts in equal order give equal bytes. */
export function encodePack(parts: readonly PackedPart[]): Uint8Array {
  const table = parts.map(({ record, blobs }) => ({ record: encodeRecord(record), sizes: blobs.map(blob => blob.length) }));
  const encoded = encodeCanonicalJson(table);
  return Buffer.concat([Buffer.from(`${MAGIC}${Buffer.byteLength(encoded)}\n${encoded}`), ...parts.flatMap(({ blobs }) => blobs)]);
}

/**
 * The parts of a pack, each verified: its record is of a part with one of the keys, and its files have the digests that the record states.
 * @throws RemoteError `remote-damaged`.
 */
export function decodePack(bytes: Uint8Array, keys: ReadonlySet<string>): readonly PackedPart[] {
  const { table, start } = readTable(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const parts: PackedPart[] = [];
  let at = start;
  for (const row of table) {
    const record = decodeRecord(row.record);
    if (record === undefined || record.results.length !== 1 || !isPart(record)) throw damaged('a pack has something else than a part');
    const key = digestJson(record.manifest);
    if (!keys.has(key)) throw damaged('a pack has a part that its index lacks');
    const digests = digestsOf(record);
    if (digests.length !== row.sizes.length) throw damaged('a part of a pack has other files than its record');
    const blobs = row.sizes.map((size, index) => {
      if (at + size > bytes.length) throw damaged('a pack is cut off');
      const blob = bytes.subarray(at, at + size);
      at += size;
      if (digestBytes(blob) !== digests[index]) throw damaged('a part of a pack has other bytes than its record states');
      return blob;
    });
    for (const { kind, sizeBytes, digest } of Object.values(record.results[0]?.outputs ?? {})) {
      const stored = blobs[digests.indexOf(digest)];
      if (kind !== 'file' || stored?.length !== sizeBytes)
        throw damaged('a part of a pack has a file of another size than its record states');
    }
    parts.push({ key, record, blobs });
  }
  if (at !== bytes.length) throw damaged('a pack has bytes that belong to no part');
  return parts;
}

function readTable(bytes: Buffer): { readonly table: FromSchema<typeof TABLE>; readonly start: number } {
  const head = /^tanren-pack 1\n(\d{1,9})\n/.exec(bytes.subarray(0, MAGIC.length + 10).toString('latin1'));
  if (head === null) throw damaged('a pack has another format');
  const start = head[0].length + Number(head[1]);
  const table = readJsonShape(reader, start > bytes.length ? undefined : parseJson(bytes.subarray(head[0].length, start).toString()));
  if (table.kind === 'problems') throw damaged(`the table of a pack cannot be read: ${formatJsonProblems(table.problems)[0]}`);
  return { table: table.value, start };
}

/** Parses a key of a part. */
export function parseKey(value: unknown): string | undefined {
  return typeof value === 'string' ? parseDigest(value) : undefined;
}
