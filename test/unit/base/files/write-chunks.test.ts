/** Many chunks in one file. */
import type { FileHandle } from 'node:fs/promises';
import { writeChunks } from '../../../../src/base/files/write-chunks.js';

/** A file whose calls write at most `most` bytes. */
function givenFile(most: number) {
  const written: number[] = [];
  const calls: number[] = [];
  const writev = async (chunks: readonly Uint8Array[]) => {
    calls.push(chunks.length);
    const bytes = chunks.flatMap(chunk => [...chunk]).slice(0, most);
    written.push(...bytes);
    return { bytesWritten: bytes.length };
  };
  return { file: { writev } as unknown as Pick<FileHandle, 'writev'>, written, calls };
}

const CHUNKS = Array.from({ length: 1_100 }, (_, i) => Uint8Array.from({ length: i % 4 }, (_, k) => (i + k) % 256));
const ALL = CHUNKS.flatMap(chunk => [...chunk]);

it.each([1, 5, 700, 100_000])('all are written in order where a call writes at most %p bytes', async most => {
  const { file, written } = givenFile(most);
  await writeChunks(file, CHUNKS);
  expect(written).toEqual(ALL);
});

it('a call has at most 512 chunks, and none that are empty', async () => {
  const { file, calls } = givenFile(100_000);
  await writeChunks(file, CHUNKS);
  expect(calls).toEqual([384, 384, 57]);
});

it('nothing is written for no chunks', async () => {
  const { file, calls } = givenFile(1);
  await writeChunks(file, [new Uint8Array(0)]);
  expect(calls).toEqual([]);
});
