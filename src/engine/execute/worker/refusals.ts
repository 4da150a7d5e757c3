/** The first refused module of a worker, in memory that its threads share: a report is there before the thread that makes it goes on. */
import { isJsonObject, parseJson } from '../../../base/json.js';
import type { RefusedModule } from './load-rule.js';

export type Refusals = SharedArrayBuffer;

/** One number of the length, then UTF-8 text. Paths of 4,096 bytes, escaped, fit twice. */
const HEAD_BYTES = 4;
const MOST_BYTES = 64 << 10;

export function newRefusals(): Refusals {
  return new SharedArrayBuffer(HEAD_BYTES + MOST_BYTES);
}

/** Keeps the module if it is the first that is refused, by any thread. */
export function reportRefusal(refusals: Refusals, { path, importer }: RefusedModule): void {
  const text = Buffer.from(JSON.stringify({ path, importer: importer ?? null })).subarray(0, MOST_BYTES);
  // Of two threads that report at once, one has the length, and the other leaves the text as it is.
  if (Atomics.compareExchange(new Int32Array(refusals, 0, 1), 0, 0, text.length) === 0) new Uint8Array(refusals, HEAD_BYTES).set(text);
}

export function readRefusal(refusals: Refusals): RefusedModule | undefined {
  const length = Atomics.load(new Int32Array(refusals, 0, 1), 0);
  const read = length === 0 ? undefined : parseJson(Buffer.from(new Uint8Array(refusals, HEAD_BYTES, length)).toString());
  if (!isJsonObject(read) || typeof read.path !== 'string') return undefined;
  return { path: read.path, importer: typeof read.importer === 'string' ? read.importer : undefined };
}
