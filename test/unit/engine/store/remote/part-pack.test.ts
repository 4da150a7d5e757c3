/** Packs of parts: what went in comes out, and a hostile pack or index is refused. */
import { digestBytes, digestJson } from '../../../../../src/base/digest.js';
import { decodeIndex, encodeIndex, readIndexResult, resultOfIndex } from '../../../../../src/engine/store/remote/part-index.js';
import { decodePack, encodePack, type PackedPart } from '../../../../../src/engine/store/remote/part-pack.js';

function part(name: string, texts: readonly string[], manifest: object = { format: 1, part: 'letters', name }): PackedPart {
  const outputs = Object.fromEntries(
    texts.map((text, index) => [
      `file${index}`,
      { kind: 'file', digest: digestBytes(text), sizeBytes: text.length, executable: false } as const,
    ]),
  );
  const record = { manifest: manifest as never, results: [{ outputs, metrics: undefined, log: undefined, durationMs: 3 }] };
  return { key: digestJson(manifest as never), record, blobs: [...new Set(texts)].map(text => Buffer.from(text)) };
}

const PARTS = [part('a', ['one', '']), part('b', ['two', 'two', 'three']), part('c', [])];
const KEYS = new Set(PARTS.map(({ key }) => key));
const PACK = Buffer.from(encodePack(PARTS));

it('gives back the parts with their bytes, in one blob', () => {
  const found = decodePack(PACK, KEYS);
  expect(found.map(({ key, blobs }) => [key, blobs.map(blob => Buffer.from(blob).toString())])).toEqual(
    PARTS.map(({ key, blobs }) => [key, blobs.map(blob => Buffer.from(blob).toString())]),
  );
  expect(found.map(({ record }) => record)).toEqual(PARTS.map(({ record }) => record));
  expect(Buffer.from(encodePack(found)).equals(PACK)).toBe(true);
});

it.each<[string, () => Uint8Array, ReadonlySet<string>]>([
  ['a pack without a head', () => Buffer.from('other'), KEYS],
  ['a table that is longer than the pack', () => Buffer.from('tanren-pack 1\n999999999\n[]'), KEYS],
  ['a table that is no list', () => Buffer.from('tanren-pack 1\n2\n{}'), KEYS],
  ['a pack that is cut off', () => PACK.subarray(0, -1), KEYS],
  ['a pack with more bytes', () => Buffer.concat([PACK, Buffer.from('x')]), KEYS],
  ['a part with other bytes', () => Buffer.from(PACK.toString('latin1').replace(/three$/, 'thre3'), 'latin1'), KEYS],
  ['a part that nobody asked for', () => PACK, new Set([PARTS[0]?.key ?? ''])],
  [
    'the result of a stage',
    () => encodePack([part('x', ['one'], { format: 1, plugin: 'evil' })]),
    new Set([digestJson({ format: 1, plugin: 'evil' })]),
  ],
  [
    'a part that is a stage too',
    () => encodePack([part('x', [], { part: 'p', plugin: 'q' })]),
    new Set([digestJson({ part: 'p', plugin: 'q' })]),
  ],
])('refuses %s', (_what, pack, keys) => {
  expect(() => decodePack(pack(), keys)).toThrow(expect.objectContaining({ code: 'remote-damaged' }));
});

it('never throws anything else, whatever byte is changed', () => {
  for (let at = 0; at < PACK.length; at++) {
    const bytes = Buffer.from(PACK);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    expect(() => decodePack(bytes, KEYS)).toThrow(expect.objectContaining({ code: 'remote-damaged' }));
  }
});

describe('an index', () => {
  const blob = { hash: digestBytes(PACK), sizeBytes: PACK.length };
  const packs = [{ blob, parts: [...KEYS].sort() }];
  const named = new Set<string>([blob.hash]);

  it('gives back the packs, and its result names them all', () => {
    expect(decodeIndex(encodeIndex(packs), named)).toEqual(packs);
    const index = { hash: digestBytes('index'), sizeBytes: 5 };
    expect(readIndexResult(resultOfIndex(index, packs))).toEqual({ index, named: new Set([index.hash, blob.hash]) });
  });

  it.each([
    ['text', 'no JSON'],
    ['another format', '{"format":2,"packs":[]}'],
    ['too many packs', JSON.stringify({ format: 1, packs: Array(65).fill({ ...blob, parts: [] }) })],
    ['a pack that its result lacks', JSON.stringify({ format: 1, packs: [{ ...blob, hash: digestBytes('x'), parts: [] }] })],
    ['a pack of endless size', JSON.stringify({ format: 1, packs: [{ ...blob, sizeBytes: 1e15, parts: [] }] })],
    ['a pack of no size', JSON.stringify({ format: 1, packs: [{ ...blob, sizeBytes: -1, parts: [] }] })],
    ['a part without a key', JSON.stringify({ format: 1, packs: [{ ...blob, parts: ['../x'] }] })],
  ])('is refused with %s', (_what, text) => {
    expect(() => decodeIndex(Buffer.from(text), named)).toThrow(expect.objectContaining({ code: 'remote-damaged' }));
  });
});
