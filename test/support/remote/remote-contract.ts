/** What every remote cache does, whatever server answers. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import type { BlobSource, RemoteCache } from '../../../src/remote/transport/remote-cache.js';
import { ACTION_RESULT, type WireResult } from '../../../src/remote/wire/reapi.js';

export type TestBlob = BlobSource & { readonly bytes: Uint8Array };

export function blobOf(bytes: Uint8Array): TestBlob {
  return { hash: digestBytes(bytes), sizeBytes: bytes.length, bytes };
}

function resultOf(blob: TestBlob): WireResult {
  const file = { path: 'a', digest: { hash: blob.hash, sizeBytes: blob.sizeBytes }, isExecutable: true, contents: new Uint8Array(0) };
  return ACTION_RESULT.decode(ACTION_RESULT.encode({ outputFiles: [file], executionMetadata: { worker: 'w' } }));
}

/** @param holds 'content': the server has no action cache. */
export async function checkContract(cache: RemoteCache, folder: string, holds: 'results' | 'content'): Promise<void> {
  const small = blobOf(Buffer.from('iron'));
  const empty = blobOf(Buffer.alloc(0));
  const large = blobOf(Buffer.alloc(9_000_001, 'steel'));
  const absent = blobOf(Buffer.from('never sent'));
  const many = Array.from({ length: 200 }, (_, index) => blobOf(Buffer.from(`blob ${index}`)));
  const from = join(folder, 'from');
  writeFileSync(from, large.bytes);
  await cache.writeBlobs([small, empty, ...many, { hash: large.hash, sizeBytes: large.sizeBytes, path: from }]);

  const found = await cache.readBlobs([small, empty, ...many, large, absent]);
  for (const { hash, bytes } of [small, empty, ...many, large]) expect(Buffer.from(found.get(hash) ?? 'absent').equals(bytes)).toBe(true);
  expect(found.has(absent.hash)).toBe(false);
  for (const blob of [small, large]) {
    const to = join(folder, blob.hash);
    expect(await cache.readFile(blob, to)).toBe('found');
    expect(readFileSync(to).equals(blob.bytes)).toBe(true);
  }
  expect(await cache.readFile(absent, join(folder, 'absent'))).toBe('missing');
  expect(existsSync(join(folder, 'absent'))).toBe(false);
  const missing = await cache.findMissing([small, absent, large]);
  if (missing !== 'unable') expect(missing.map(({ hash }) => hash)).toEqual([absent.hash]);
  expect((await cache.describe()).protocol).toMatch(/SHA-256|REAPI/);
  if (holds === 'content') return;

  const action = blobOf(Buffer.from(`action ${Date.now()} ${Math.random()}`));
  await cache.writeBlobs([action]);
  expect(await cache.getResult(action)).toBeUndefined();
  await cache.putResult(action, resultOf(small));
  expect(await cache.getResult(action)).toEqual(resultOf(small));
}

/** Everything that a build does with a cache, with content of its own. */
export async function playSession(cache: RemoteCache, folder: string, name: string): Promise<void> {
  const small = blobOf(Buffer.from(`iron ${name}`));
  /** Above the limit of a small batch, so that it is streamed where the limit is small. */
  const large = blobOf(Buffer.alloc(1_200_000, `steel ${name}`));
  const action = blobOf(Buffer.from(`action ${name}`));
  const [from, to] = [join(folder, `from ${name}`), join(folder, `to ${name}`)];
  writeFileSync(from, large.bytes);
  await cache.findMissing([small, large]);
  await cache.writeBlobs([action, small, { hash: large.hash, sizeBytes: large.sizeBytes, path: from }]);
  await cache.putResult(action, resultOf(small));
  expect(await cache.getResult(action)).toEqual(resultOf(small));
  expect(Buffer.from((await cache.readBlobs([small])).get(small.hash) ?? '').equals(small.bytes)).toBe(true);
  expect(await cache.readFile(large, to)).toBe('found');
  expect(readFileSync(to).equals(large.bytes)).toBe(true);
}
