/** Parts of remote actions: what a worker's output may hold, and what follows when it fails. */

import { type Digest, digestBytes } from '../../../../src/base/digest.js';
import { takePartOutputs } from '../../../../src/engine/execute/remote/part-outputs.js';
import { createRemoteParts, type RunBatch } from '../../../../src/engine/execute/remote/remote-parts.js';
import type { PartQuestion } from '../../../../src/engine/execute/worker/messages.js';
import { PARTS_OUTPUT, PARTS_RESULTS } from '../../../../src/engine/execute/worker/parts-document.js';
import type { TreeEntry } from '../../../../src/engine/store/files/tree.js';
import { encodeTreeMessage } from '../../../../src/engine/store/remote/tree-message.js';
import { ACTION_RESULT } from '../../../../src/remote/wire/reapi.js';

const QUESTION: PartQuestion = {
  name: 'lines',
  version: 1,
  modulePath: '/plugin.mjs',
  runsModels: 'never',
  manifest: {},
  blobs: {},
  paths: { blobs: {}, unkeyed: {} },
};

/** A server with the blobs of one result, and a store that notes what it takes. */
function given() {
  const blobs = new Map<Digest, Buffer>();
  const stored = new Map<Digest, string>();
  const keep = (bytes: Uint8Array) => {
    const blob = { hash: digestBytes(bytes), sizeBytes: bytes.length };
    blobs.set(blob.hash, Buffer.from(bytes));
    return blob;
  };
  const cache = {
    readBlobs: async (asked: readonly { readonly hash: Digest }[]) =>
      new Map(asked.flatMap(({ hash }) => (blobs.has(hash) ? [[hash, blobs.get(hash) as Uint8Array] as const] : []))),
    readFile: async () => 'missing' as const,
  };
  const store = {
    sizeOf: async (digest: Digest) => stored.get(digest)?.length,
    verify: async (digest: Digest) => (stored.has(digest) ? 'found' : 'missing'),
    storeBytes: async (bytes: Uint8Array) => {
      stored.set(digestBytes(bytes), Buffer.from(bytes).toString());
      return { digest: digestBytes(bytes) };
    },
  };
  const fileEntry = (path: string, text: string): TreeEntry => {
    const { hash, sizeBytes } = keep(Buffer.from(text));
    return { kind: 'file', path, digest: hash, sizeBytes, executable: false };
  };
  const resultOf = (entries: readonly TreeEntry[], names: readonly string[]) => {
    const results = fileEntry(PARTS_RESULTS, JSON.stringify({ format: 1, durationMs: 1, parts: [{ names }] }));
    const treeDigest = keep(encodeTreeMessage([...entries, results]).bytes);
    const message = { outputDirectories: [{ path: PARTS_OUTPUT, treeDigest, rootDirectoryDigest: undefined }] };
    return ACTION_RESULT.decode(ACTION_RESULT.encode(message));
  };
  const said: string[] = [];
  const note = (why: string): void => void said.push(why);
  return {
    blobs,
    stored,
    said,
    fileEntry,
    make: (run: RunBatch) => createRemoteParts({ jobs: 1, run, moduleOf: path => path, onFailed: note, onDamaged: note }),
    take: (entries: readonly TreeEntry[], names: readonly string[]) =>
      takePartOutputs(cache, { store: store as never, cache: undefined as never }, resultOf(entries, names)),
  };
}

it('takes a file of a part into the store', async () => {
  const { said, stored, make, take, fileEntry } = given();
  const parts = make(() => take([fileEntry('0/text', 'one')], ['text']));
  expect(await parts.compute(QUESTION)).toEqual({ text: { hash: digestBytes('one'), sizeBytes: 3 } });
  expect([said, [...stored.values()]]).toEqual([[], ['one']]);
});

it.each<[string, readonly string[], (file: ReturnType<typeof given>['fileEntry']) => readonly TreeEntry[]]>([
  ['a link to a file', ['text'], file => [{ kind: 'symlink', path: '0/text', target: '../1/text' }, file('1/text', 'other')]],
  ['a path through a link', ['inner/text'], file => [{ kind: 'symlink', path: '0/inner', target: '../1' }, file('1/text', 'other')]],
  ['a path that leaves the folder', ['../results.json'], () => []],
  ['a file of another part', ['../1/text'], file => [file('1/text', 'other')]],
  ['no file', ['text'], () => []],
])('refuses %s', async (_what, names, entries) => {
  const { said, make, take, fileEntry } = given();
  const parts = make(() => take(entries(fileEntry), names));
  expect(await parts.compute(QUESTION)).toBeUndefined();
  expect(said).toEqual([expect.stringMatching(/is not a file in its folder/)]);
});

it('fails for content that the server has lost, so that the action runs again', async () => {
  const { blobs, take, fileEntry } = given();
  const entry = fileEntry('0/text', 'one');
  blobs.delete(digestBytes('one'));
  await expect(take([entry], ['text'])).rejects.toMatchObject({ code: 'remote-missing' });
});

it('refuses a digest with two sizes', async () => {
  const { take, fileEntry } = given();
  const entry = fileEntry('0/text', 'one');
  const other = { ...entry, path: '0/other', sizeBytes: 4 } as TreeEntry;
  await expect(take([entry, other], ['text'])).rejects.toMatchObject({ code: 'remote-damaged' });
});

it('passes on what a run throws, and computes no further part', async () => {
  const parts = given().make(() => Promise.reject(new TypeError('a slip')));
  await expect(parts.compute(QUESTION)).rejects.toThrow('a slip');
  expect(await parts.compute(QUESTION)).toBeUndefined();
});

it('waits at its end for the actions under way', async () => {
  const { promise: begun, resolve: begin } = deferred<void>();
  const { promise: there, resolve: finish } = deferred<undefined>();
  const parts = given().make(() => {
    begin();
    return there;
  });
  const made = parts.compute(QUESTION);
  await begun;
  const order: string[] = [];
  const over = parts.end().then(() => order.push('ended'));
  await new Promise(resolve => setImmediate(resolve));
  order.push('finished');
  finish(undefined);
  await over;
  expect(order).toEqual(['finished', 'ended']);
  expect(await made).toBeUndefined();
});

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>(settle => {
    resolve = settle;
  });
  return { promise, resolve };
}
