/** Sequential reading of little-endian fields with bounds checks. */
import { TensorError } from '../tensor-error.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A position in little-endian bytes that every `take…` advances. @throws TensorError `truncated` at the end of the bytes. */
export class ByteCursor {
  readonly bytes: Uint8Array;
  readonly what: string;
  position: number;
  readonly #view: DataView;

  constructor(bytes: Uint8Array, what: string, position = 0) {
    this.bytes = bytes;
    this.what = what;
    this.position = position;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Advances by `count` bytes and returns their start. */
  skip(count: number): number {
    const start = this.position;
    if (count < 0 || !Number.isSafeInteger(count) || start + count > this.bytes.length) {
      throw new TensorError(
        'truncated',
        `${this.what} ends after ${this.bytes.length} bytes; ${count} bytes are needed at offset ${start}`,
      );
    }
    this.position = start + count;
    return start;
  }

  /** A view, not a copy. */
  take(count: number): Uint8Array {
    const start = this.skip(count);
    return this.bytes.subarray(start, start + count);
  }

  takeUint8(): number {
    return this.#view.getUint8(this.skip(1));
  }

  takeUint16(): number {
    return this.#view.getUint16(this.skip(2), true);
  }

  takeUint32(): number {
    return this.#view.getUint32(this.skip(4), true);
  }

  takeInt32(): number {
    return this.#view.getInt32(this.skip(4), true);
  }

  takeUint64(): bigint {
    return this.#view.getBigUint64(this.skip(8), true);
  }

  /** A byte count or offset. @throws TensorError `truncated` if it is not a safe integer, because no file is that long. */
  takeSize(): number {
    const size = this.takeUint64();
    if (size > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw new TensorError('truncated', `${this.what} states a size of ${size} bytes at offset ${this.position - 8}`);
    }
    return Number(size);
  }

  takeFloat64BigEndian(): number {
    return this.#view.getFloat64(this.skip(8), false);
  }

  /** TextDecoder is not used because its `latin1` is windows-1252. */
  takeLatin1(count: number): string {
    const { buffer, byteOffset, length } = this.take(count);
    return Buffer.from(buffer, byteOffset, length).toString('latin1');
  }

  /** @throws TensorError `bad-text` if the bytes are not UTF-8. */
  takeUtf8(count: number): string {
    const bytes = this.take(count);
    try {
      return utf8.decode(bytes);
    } catch (error) {
      throw new TensorError('bad-text', `${this.what}: the text at offset ${this.position - count} is not UTF-8`, { cause: error });
    }
  }

  /** The text up to the next line feed, which is also consumed. */
  takeLine(): string {
    const end = this.bytes.indexOf(0x0a, this.position);
    if (end < 0) throw new TensorError('truncated', `${this.what} ends inside a line at offset ${this.position}`);
    const line = this.takeUtf8(end - this.position);
    this.position = end + 1;
    return line;
  }
}
