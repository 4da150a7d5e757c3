/** The JSON Schema of a digest in a file. */
import type { Digest } from '../digest.js';
import { matching } from './build-schema.js';
import { schemaOf } from './from-schema.js';

/** Digests of SHA-256. The pattern is that of `parseDigest`. */
export const DIGEST_SCHEMA = schemaOf<Digest>(matching(/^[0-9a-f]{64}$/, 'a SHA-256 digest'));
