/**
 * Dead Simple Signing Envelopes with Ed25519 keys.
 * Source: the DSSE protocol, https://github.com/secure-systems-lab/dsse/blob/master/protocol.md, version 1.
 */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { digestBytes } from '../../../base/digest.js';
import { anyText, list, openObject, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/** Members that are not known here are ignored, as the protocol asks. */
export const ENVELOPE = openObject({
  payloadType: text(),
  payload: anyText('Base64.'),
  signatures: list(openObject({ sig: text('Base64.') }, { keyid: anyText('A hint which key made it.') })),
});

export type Envelope = FromSchema<typeof ENVELOPE>;

/** The bytes that a signature covers. */
export function preAuthEncode(payloadType: string, payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** @param own a private Ed25519 key. */
export function sealEnvelope(payload: Uint8Array, own: KeyObject): Envelope {
  const sig = sign(null, preAuthEncode(PAYLOAD_TYPE, payload), own).toString('base64');
  const keyid = keyIdOf(createPublicKey(own));
  return { payloadType: PAYLOAD_TYPE, payload: Buffer.from(payload).toString('base64'), signatures: [{ keyid, sig }] };
}

/** The key that has signed the envelope; undefined if none of these has. Key ids are hints: every key is tried. */
export function findSigner({ payloadType, payload, signatures }: Envelope, keys: readonly KeyObject[]): KeyObject | undefined {
  const covered = preAuthEncode(payloadType, payloadOf({ payload }));
  return keys.find(key => signatures.some(({ sig }) => verify(null, covered, key, Buffer.from(sig, 'base64'))));
}

export function payloadOf({ payload }: Pick<Envelope, 'payload'>): Buffer {
  return Buffer.from(payload, 'base64');
}

/** The first half of the digest of a public key. */
export function keyIdOf(key: KeyObject): string {
  return digestBytes(key.export({ type: 'spki', format: 'der' })).slice(0, 32);
}
