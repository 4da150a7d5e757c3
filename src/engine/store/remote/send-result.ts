/** Gives one result to a remote cache. */
import type { JsonObject } from '../../../base/json.js';
import type { ActionResult } from '../action-records.js';
import { actionOf, encodeEntry } from './entry.js';
import type { Ends } from './fetch-result.js';
import type { RemoteContent } from './remote-content.js';
import { signEntry } from './signatures.js';

/** Everything that the result names goes first, and the result last. @returns false if neither the local cache nor the server has all of the result. */
export async function sendResult(
  { use, local }: Ends,
  key: string,
  manifest: JsonObject,
  result: ActionResult,
  remote?: RemoteContent,
): Promise<boolean> {
  const { cache, salt, signatures } = use;
  const entry = await encodeEntry(local.store, manifest, result, remote, ({ hash }) =>
    signEntry(signatures, { holds: 'result', key, digest: hash }),
  );
  if (entry === undefined) return false;
  const { action, blobs } = actionOf(key, salt);
  const all = [...blobs, ...entry.blobs];
  const missing = await cache.findMissing([...all, ...entry.there]);
  const lost = new Set(entry.there.map(({ hash }) => hash));
  if (missing !== 'unable' && missing.some(({ hash }) => lost.has(hash))) return false;
  const wanted = missing === 'unable' ? undefined : new Set(missing.map(({ hash }) => hash));
  await cache.writeBlobs(wanted === undefined ? all : all.filter(({ hash }) => wanted.has(hash)));
  await cache.putResult(action, entry.result);
  return true;
}
