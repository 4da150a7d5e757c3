/** Signed envelopes: the encoding of the DSSE specification, and signatures that OpenSSL verifies. */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJsonShape } from '../../../../src/base/json/json-shape.js';
import { readerOf } from '../../../../src/base/schema/schema-reader.js';
import { ENVELOPE, findSigner, PAYLOAD_TYPE, payloadOf, preAuthEncode, sealEnvelope } from '../../../../src/engine/insight/attest/dsse.js';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const payload = Buffer.from('{"name":"äöü"}');

it('encodes what is signed as the specification shows', () => {
  expect(preAuthEncode('http://example.com/HelloWorld', Buffer.from('hello world')).toString()).toBe(
    'DSSEv1 29 http://example.com/HelloWorld 11 hello world',
  );
});

it('knows the key that signed, whatever the key id says', () => {
  const envelope = sealEnvelope(payload, privateKey);
  expect(payloadOf(envelope)).toEqual(payload);
  expect(findSigner(envelope, [other.publicKey, publicKey])).toBe(publicKey);
  expect(findSigner({ ...envelope, signatures: envelope.signatures.map(({ sig }) => ({ sig })) }, [publicKey])).toBe(publicKey);
  expect(findSigner(envelope, [other.publicKey])).toBeUndefined();
  expect(findSigner({ ...envelope, payload: Buffer.from('{}').toString('base64') }, [publicKey])).toBeUndefined();
  expect(findSigner({ ...envelope, payloadType: 'text/plain' }, [publicKey])).toBeUndefined();
  expect(findSigner({ ...envelope, signatures: [{ sig: '' }, { sig: 'AAAA' }] }, [publicKey])).toBeUndefined();
});

it('ignores members that it does not know, also in signatures', () => {
  const { signatures, ...rest } = sealEnvelope(payload, privateKey);
  const json = { ...rest, extra: 1, signatures: signatures.map(signature => ({ ...signature, cert: 'x' })) };
  const read = readJsonShape(readerOf(ENVELOPE), json as never);
  expect(read.kind === 'ok' && findSigner(read.value, [publicKey])).toBe(publicKey);
});

const openssl = spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0;

(openssl ? it : it.skip)('makes signatures that OpenSSL verifies', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-dsse-'));
  try {
    const { signatures } = sealEnvelope(payload, privateKey);
    const paths = ['key.pem', 'signed', 'signature'].map(name => join(folder, name));
    const [key = '', signed = '', signature = ''] = paths;
    writeFileSync(key, publicKey.export({ type: 'spki', format: 'pem' }));
    writeFileSync(signed, `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} ${payload}`);
    writeFileSync(signature, Buffer.from(signatures[0]?.sig ?? '', 'base64'));
    const verify = ['pkeyutl', '-verify', '-pubin', '-inkey', key, '-rawin', '-in', signed, '-sigfile', signature];
    expect(spawnSync('openssl', verify, { encoding: 'utf8' })).toMatchObject({ status: 0 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
