/** Gives one result to a remote cache. */
import type { JsonObject } from '../../../base/json.js';
import type { ActionResult } from '../action-records.js';
import { actionOf, encodeEntry } from './entry.js';
import type { Ends } from './fetch-result.js';
import { signEntry } from './signatures.js';

/** Everything that the result names goes first, and the result last. @returns false if the local cache no longer has the result. */
export async function sendResult({ use, local }: Ends, key: string, manifest: JsonObject, result: ActionResult): Promise<boolean> {
  const { cache, salt, signatures } = use;
  const entry = await encodeEntry(local.store, manifest, result, ({ hash }) =>
    signEntry(signatures, { holds: 'result', key, digest: hash }),
  );
  if (entry === undefined) return false;
  const { action, blobs } = actionOf(key, salt);
  const all = [...blobs, ...entry.blobs];
  const missing = await cache.findMissing(all);
  const wanted = missing === 'unable' ? undefined : new Set(missing.map(({ hash }) => hash));
  await cache.writeBlobs(wanted === undefined ? all : all.filter(({ hash }) => wanted.has(hash)));
  await cache.putResult(action, entry.result);
  return true;
}
