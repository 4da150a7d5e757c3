/** Joined questions for missing blobs: few calls, and each question has its own answer. */
import { digestBytes } from '../../../src/base/digest.js';
import { createMissingFinder } from '../../../src/remote/grpc/find-missing.js';
import type { BlobDigest } from '../../../src/remote/transport/remote-cache.js';

const blob = (text: string): BlobDigest => ({ hash: digestBytes(text), sizeBytes: text.length });
const nameOf = ({ hash }: BlobDigest): string => hash;
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

it('asks for the blobs of many questions at once, each blob once, and answers each question', async () => {
  const calls: string[][] = [];
  const find = createMissingFinder(async blobs => {
    calls.push(blobs.map(nameOf));
    return new Set([nameOf(blob('b'))]);
  }, nameOf);
  const answers = await Promise.all([find([blob('a')]), find([blob('a'), blob('b')]), find([]), find([blob('b')])]);
  expect(answers).toEqual([[], [blob('b')], [], [blob('b')]]);
  expect(calls).toEqual([[blob('a'), blob('b')].map(nameOf)]);
});

it('has four calls under way at most, and asks what waited together', async () => {
  const open: (() => void)[] = [];
  const sizes: number[] = [];
  const find = createMissingFinder(async blobs => {
    sizes.push(blobs.length);
    await new Promise<void>(resolve => open.push(resolve));
    return new Set();
  }, nameOf);
  const asked: Promise<readonly BlobDigest[]>[] = [];
  for (let round = 0; round < 10; round++) {
    asked.push(find([blob(`${round}`)]));
    await turn();
  }
  expect(sizes).toEqual([1, 1, 1, 1]);
  for (let done = 0; done < 5; done++) {
    open.shift()?.();
    await turn();
    await turn();
  }
  for (const resolve of open) resolve();
  await Promise.all(asked);
  expect(sizes).toEqual([1, 1, 1, 1, 6]);
});

it('a call that fails fails its own questions, and not those after it', async () => {
  let first = true;
  const find = createMissingFinder(async () => {
    if (!first) return new Set<string>();
    first = false;
    throw new Error('no answer');
  }, nameOf);
  await expect(Promise.all([find([blob('a')]), find([blob('b')])])).rejects.toThrow('no answer');
  expect(await find([blob('a')])).toEqual([]);
});
