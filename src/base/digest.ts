/** SHA-256 digests of content, as 64 lower-case hexadecimal digits. */
import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Brand } from './brand.js';
import { encodeCanonicalJson } from './json/canonical-json.js';
import type { Json } from './json.js';

export type Digest = Brand<string, 'Digest'>;

const PATTERN = /^[0-9a-f]{64}$/;

/** `text` as a digest, or undefined if it is not one. */
export function parseDigest(text: unknown): Digest | undefined {
  return typeof text === 'string' && PATTERN.test(text) ? (text as Digest) : undefined;
}

export function digestBytes(bytes: Uint8Array | string): Digest {
  return hash('sha256', bytes, 'hex') as Digest;
}

/** The digest of the canonical encoding of a JSON value. */
export function digestJson(value: Json): Digest {
  return digestBytes(encodeCanonicalJson(value));
}

/** The digest of the bytes of a file, read as a stream. */
export async function digestFile(path: string): Promise<Digest> {
  const hasher = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hasher);
  return hasher.digest('hex') as Digest;
}
