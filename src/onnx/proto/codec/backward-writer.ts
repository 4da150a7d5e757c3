/** Writes bytes from the end of a message to its start, into chunks. */

/** Bytes of at least this size become chunks of their own instead of being copied. */
const LARGE_BYTES = 1 << 16;

/** The first block is small, because most messages are; a model takes many of the others. */
const [FIRST_BLOCK_BYTES, BLOCK_BYTES] = [1 << 12, 1 << 16];

/** What is written comes before what was written earlier. */
export class BackwardWriter {
  /** Bytes so far. */
  size = 0;
  /** From the last to the first. */
  readonly #chunks: Uint8Array[] = [];
  #block = new Uint8Array(FIRST_BLOCK_BYTES);
  /** Bytes of the block before this index are free. */
  #free = FIRST_BLOCK_BYTES;

  /** The chunks from the first to the last. Nothing can be written then. */
  finish(): readonly Uint8Array[] {
    this.#endChunk();
    return this.#chunks.reverse();
  }

  bytes(value: Uint8Array): void {
    if (value.byteLength >= LARGE_BYTES) {
      this.#endChunk();
      this.#chunks.push(value);
      this.size += value.byteLength;
      return;
    }
    const at = this.#take(value.byteLength);
    this.#block.set(value, at);
  }

  /** As UTF-8; surrogates without a partner become U+FFFD. */
  text(value: string): void {
    if (value.length >= LARGE_BYTES || !isAscii(value)) {
      const { buffer, byteOffset, byteLength } = Buffer.from(value, 'utf8');
      this.bytes(new Uint8Array(buffer, byteOffset, byteLength));
      return;
    }
    const at = this.#take(value.length);
    for (let index = 0; index < value.length; index++) this.#block[at + index] = value.charCodeAt(index);
  }

  /** @param value an integer from 0 to 2⁵³ − 1. */
  varint(value: number): void {
    let at = this.#take(lengthOfVarint(value));
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) this.#block[at++] = (rest % 0x80) | 0x80;
    this.#block[at] = rest;
  }

  /** @param value as 64 bits; negative numbers in two's complement. */
  bigVarint(value: bigint): void {
    if (value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)) {
      this.varint(Number(value));
      return;
    }
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, value);
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    const at = this.#take(bytes.length);
    this.#block.set(bytes, at);
  }

  float(value: number): void {
    const at = this.#take(4);
    new DataView(this.#block.buffer).setFloat32(at, value, true);
  }

  double(value: number): void {
    const at = this.#take(8);
    new DataView(this.#block.buffer).setFloat64(at, value, true);
  }

  /** Takes `count` bytes, fewer than `LARGE_BYTES`, in front of what was written; `#block` may be another one then. @returns the index of the first. */
  #take(count: number): number {
    if (this.#free < count) {
      this.#endChunk();
      this.#block = new Uint8Array(BLOCK_BYTES);
      this.#free = BLOCK_BYTES;
    }
    this.#free -= count;
    this.size += count;
    return this.#free;
  }

  /** The written part of the block becomes a chunk; the rest of it stays free. */
  #endChunk(): void {
    if (this.#free < this.#block.length) this.#chunks.push(this.#block.subarray(this.#free));
    this.#block = this.#block.subarray(0, this.#free);
  }
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

function lengthOfVarint(value: number): number {
  let length = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) length++;
  return length;
}
