/** Signatures on entries: only what a trusted key signed counts, for its key, its digest and its kind. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { digestBytes } from '../../../../../src/base/digest.js';
import { checkSignature, type Signed, signEntry } from '../../../../../src/engine/store/remote/signatures.js';

const [one, two] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const SIGNED: Signed = { holds: 'result', key: digestBytes('key'), digest: digestBytes('record') };
const by = (keys: typeof one) => ({ own: keys.privateKey, trusted: undefined });
const trusting = (...keys: readonly (typeof one)[]) => ({ own: undefined, trusted: keys.map(({ publicKey }) => publicKey) });
const LINE = Buffer.from(signEntry(by(one), SIGNED));

it('a signature of a trusted key counts, and is that of Ed25519 over the text that the page states', () => {
  expect(() => checkSignature(trusting(two, one), SIGNED, LINE)).not.toThrow();
  const text = `tanren-signature 1\nresult\n${SIGNED.key}\n${SIGNED.digest}\n`;
  expect(LINE.toString().split(' ')[3]).toBe(`${sign(null, Buffer.from(text), one.privateKey).toString('base64')}\n`);
});

it('without keys nothing is signed, and everything counts', () => {
  expect(signEntry(undefined, SIGNED)).toHaveLength(0);
  expect(() => checkSignature(undefined, SIGNED, Buffer.alloc(0))).not.toThrow();
  expect(() => checkSignature({ own: one.privateKey, trusted: undefined }, SIGNED, Buffer.from('x'))).not.toThrow();
});

it.each<[string, Signed, Uint8Array, typeof one]>([
  ['no signature', SIGNED, Buffer.alloc(0), one],
  ['a signature of another key', SIGNED, LINE, two],
  [
    'a signature of another key under the name of a trusted one',
    SIGNED,
    Buffer.from(
      LINE.toString().replace(
        /1 [0-9a-f]{32}/,
        `1 ${
          Buffer.from(signEntry(by(two), SIGNED))
            .toString()
            .split(' ')[2]
        }`,
      ),
    ),
    two,
  ],
  ['a signature for another action', { ...SIGNED, key: digestBytes('other') }, LINE, one],
  ['a signature for another record', { ...SIGNED, digest: digestBytes('other') }, LINE, one],
  ['a signature for an entry of another kind', { ...SIGNED, holds: 'parts' }, LINE, one],
  ['a signature with more behind it', SIGNED, Buffer.concat([LINE, Buffer.from('x')]), one],
])('%s does not count', (_what, signed, line, trusted) => {
  expect(() => checkSignature(trusting(trusted), signed, line)).toThrow(
    expect.objectContaining({ code: 'remote-unsigned', trouble: 'missing' }),
  );
});

it('no byte of a signature can be changed', () => {
  for (let at = 0; at < LINE.length; at++) {
    const changed = Buffer.from(LINE);
    changed[at] = (changed[at] ?? 0) ^ 4;
    expect(() => checkSignature(trusting(one), SIGNED, changed)).toThrow(expect.objectContaining({ code: 'remote-unsigned' }));
  }
});

it('an empty list of trusted keys trusts nobody', () => {
  expect(() => checkSignature({ own: undefined, trusted: [] }, SIGNED, LINE)).toThrow(expect.objectContaining({ code: 'remote-unsigned' }));
});
