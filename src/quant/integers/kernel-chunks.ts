/** Copies elements into the memory of a WebAssembly kernel, in chunks that fit the processor's cache. */

export const CHUNK_BYTES = 64 * 1024;
const CHUNK = CHUNK_BYTES / 4;

/**
 * Copies `data` chunk by chunk to address `at`. Calls `work` with the chunk's start and end address and the index of its first element.
 * Elements that are in `memory` already are not copied.
 */
export function eachChunk(
  data: Float32Array,
  memory: ArrayBuffer,
  at: number,
  work: (from: number, to: number, start: number) => void,
): void {
  if (data.buffer === memory) {
    for (let start = 0; start < data.length; start += CHUNK) {
      const from = data.byteOffset + 4 * start;
      work(from, Math.min(from + CHUNK_BYTES, data.byteOffset + data.byteLength), start);
    }
    return;
  }
  const chunk = new Float32Array(memory, at, CHUNK);
  for (let start = 0; start < data.length; start += CHUNK) {
    const part = data.subarray(start, start + CHUNK);
    chunk.set(part);
    work(at, at + 4 * part.length, start);
  }
}
