/** How is it written down which parts a run used? A list of their keys, as a blob that the result names. */
import { encodeCanonicalJson } from '../../base/canonical-json.js';
import { parseDigest } from '../../base/digest.js';
import { isJsonObject, parseJson } from '../../base/json.js';
import type { ActionRecord } from './action-records.js';
import type { ReadBlob } from './blob-store.js';

export function encodePartList(keys: Iterable<string>): string {
  return encodeCanonicalJson({ format: 1, parts: [...new Set(keys)].sort() });
}

/** Keys of all parts that the results of a record name. A list that is gone or is none names nothing: parts save time, and nothing else needs them. */
export function partsOf({ results }: ActionRecord, read: ReadBlob): readonly string[] {
  return results.flatMap(({ parts }) => {
    const text = parts === undefined ? undefined : read(parts.digest)?.toString('utf8');
    const document = text === undefined ? undefined : parseJson(text);
    if (!isJsonObject(document) || document.format !== 1 || !Array.isArray(document.parts)) return [];
    return document.parts.flatMap(key => parseDigest(key) ?? []);
  });
}
