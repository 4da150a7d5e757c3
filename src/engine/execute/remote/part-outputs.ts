/** Outputs of an action of several parts, taken straight into the local store. */
import type { BlobDigest, RemoteCache } from '../../../remote/transport/remote-cache.js';
import type { WireResult } from '../../../remote/wire/reapi.js';
import { bringBlobs } from '../../store/remote/bring-blobs.js';
import type { LocalStores } from '../../store/remote/remote-use.js';
import { PARTS_OUTPUT, PARTS_RESULTS } from '../worker/parts-document.js';
import { listOutputs, lostOutput } from './list-outputs.js';

/** More than the results of the parts of one action need. */
const MOST_RESULT_BYTES = 64 << 20;

export interface PartOutputs {
  /** Files by path below the output: "3/text" is a file of the fourth part. They are in the store, verified. */
  readonly files: ReadonlyMap<string, BlobDigest>;
  /** Text of the results; '' if there are none, or too many. */
  readonly results: string;
}

/** @throws RemoteError as `listOutputs`; `remote-damaged` for content that does not match; file system errors of the store. */
export async function takePartOutputs(
  cache: Pick<RemoteCache, 'readBlobs' | 'readFile'>,
  local: Pick<LocalStores, 'store' | 'cache'>,
  result: WireResult,
): Promise<PartOutputs> {
  const { trees } = await listOutputs(cache, result, new Set([PARTS_OUTPUT]));
  const files = new Map<string, BlobDigest>();
  for (const entry of trees[0]?.entries ?? [])
    if (entry.kind === 'file') files.set(entry.path, { hash: entry.digest, sizeBytes: entry.sizeBytes });
  const results = files.get(PARTS_RESULTS);
  files.delete(PARTS_RESULTS);
  const isReadable = results !== undefined && results.sizeBytes <= MOST_RESULT_BYTES;
  const bytes = isReadable ? (await cache.readBlobs([results])).get(results.hash) : Buffer.alloc(0);
  if (bytes === undefined) throw lostOutput(PARTS_RESULTS);
  await bringBlobs(cache, local, [...files.values()]);
  return { files, results: Buffer.from(bytes).toString() };
}
