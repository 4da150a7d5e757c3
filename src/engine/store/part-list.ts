/** The list of the parts that a run used: a blob with their keys, which the result names. */

import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import { readJsonShape } from '../../base/json/json-shape.js';
import { parseJson } from '../../base/json.js';
import { anyList, constant, openObject } from '../../base/schema/build-schema.js';
import { DIGEST_SCHEMA } from '../../base/schema/digest-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import type { ActionRecord } from './action-records.js';
import type { ReadBlob } from './blob-store.js';

const PART_LIST = openObject({ format: constant(1), parts: anyList(DIGEST_SCHEMA, 'Keys of the parts.') });

const reader = readerOf(PART_LIST);

export function encodePartList(keys: Iterable<string>): string {
  return encodeCanonicalJson({ format: 1, parts: [...new Set(keys)].sort() });
}

/** Keys of all parts that the results of a record name. A missing or malformed list yields no keys: parts only save time. */
export function partsOf({ results }: ActionRecord, read: ReadBlob): readonly string[] {
  return results.flatMap(({ parts }) => {
    const text = parts === undefined ? undefined : read(parts.digest)?.toString('utf8');
    const list = readJsonShape(reader, text === undefined ? undefined : parseJson(text));
    return list.kind === 'ok' ? list.value.parts : [];
  });
}
