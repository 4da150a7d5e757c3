/** What names content? The SHA-256 of its bytes, as 64 lower-case hex digits. */
import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Brand } from './brand.js';
import { encodeCanonicalJson } from './canonical-json.js';
import type { Json } from './json.js';

export type Digest = Brand<string, 'Digest'>;

const PATTERN = /^[0-9a-f]{64}$/;

/** The digest in `text`, or undefined where it is none. */
export function parseDigest(text: unknown): Digest | undefined {
  return typeof text === 'string' && PATTERN.test(text) ? (text as Digest) : undefined;
}

export function digestBytes(bytes: Uint8Array | string): Digest {
  return hash('sha256', bytes, 'hex') as Digest;
}

/** The digest of a JSON value's canonical encoding. */
export function digestJson(value: Json): Digest {
  return digestBytes(encodeCanonicalJson(value));
}

/** The digest of a file's bytes, read as a stream. */
export async function digestFile(path: string): Promise<Digest> {
  const hasher = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hasher);
  return hasher.digest('hex') as Digest;
}
