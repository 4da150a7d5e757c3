/** The list of the parts that a run used: a blob with their keys, which the result names. */

import { parseDigest } from '../../base/digest.js';
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import { isJsonObject, parseJson } from '../../base/json.js';
import type { ActionRecord } from './action-records.js';
import type { ReadBlob } from './blob-store.js';

export function encodePartList(keys: Iterable<string>): string {
  return encodeCanonicalJson({ format: 1, parts: [...new Set(keys)].sort() });
}

/** Keys of all parts that the results of a record name. A missing or malformed list yields no keys: parts only save time. */
export function partsOf({ results }: ActionRecord, read: ReadBlob): readonly string[] {
  return results.flatMap(({ parts }) => {
    const text = parts === undefined ? undefined : read(parts.digest)?.toString('utf8');
    const document = text === undefined ? undefined : parseJson(text);
    if (!isJsonObject(document) || document.format !== 1 || !Array.isArray(document.parts)) return [];
    return document.parts.flatMap(key => parseDigest(key) ?? []);
  });
}
