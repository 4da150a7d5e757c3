/**
 * Signatures on entries of a remote cache (Ed25519, RFC 8032). A signature covers the kind of the entry, its key, and the digest of its record or
 * index, which states the digests of everything else.
 */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { digestBytes } from '../../../base/digest.js';
import { RemoteError } from '../../../remote/error/remote-error.js';

export interface Signatures {
  /** The private key of this writer; undefined: what it sends is not signed. */
  readonly own: KeyObject | undefined;
  /** Public keys of the writers whose results count; undefined: all results count. */
  readonly trusted: readonly KeyObject[] | undefined;
}

/** What a signature is about. */
export interface Signed {
  readonly holds: 'result' | 'parts';
  /** The action key, or the key of the index. */
  readonly key: string;
  readonly digest: string;
}

const HEAD = 'tanren-signature 1';

/** One line: format, the first half of the digest of the public key, the signature. Empty without a private key. */
export function signEntry(signatures: Signatures | undefined, signed: Signed): Uint8Array {
  const own = signatures?.own;
  if (own === undefined) return new Uint8Array(0);
  return Buffer.from(`${HEAD} ${keyIdOf(createPublicKey(own))} ${sign(null, textOf(signed), own).toString('base64')}\n`);
}

/** @throws RemoteError `remote-unsigned` unless a trusted key has signed the entry. */
export function checkSignature(signatures: Signatures | undefined, signed: Signed, line: Uint8Array): void {
  const trusted = signatures?.trusted;
  if (trusted === undefined) return;
  const [, id, signature] =
    /^tanren-signature 1 ([0-9a-f]{32}) ([A-Za-z0-9+/]{86}==)\n$/.exec(Buffer.from(line.subarray(0, 200)).toString()) ?? [];
  if (id === undefined || signature === undefined) throw unsigned('it is not signed');
  // The last character has bits that no byte uses: of all forms of a signature only one counts.
  if (Buffer.from(signature, 'base64').toString('base64') !== signature) throw unsigned('its signature is wrong');
  const key = trusted.find(one => keyIdOf(one) === id);
  if (key === undefined) throw unsigned('it is signed by a key that you do not trust');
  if (!verify(null, textOf(signed), key, Buffer.from(signature, 'base64'))) throw unsigned('its signature is wrong');
}

function textOf({ holds, key, digest }: Signed): Buffer {
  return Buffer.from(`${HEAD}\n${holds}\n${key}\n${digest}\n`);
}

/** Names a key in a signature. */
function keyIdOf(key: KeyObject): string {
  return digestBytes(key.export({ type: 'spki', format: 'der' })).slice(0, 32);
}

function unsigned(why: string): RemoteError {
  return new RemoteError('remote-unsigned', 'missing', `the entry does not count: ${why}`);
}
