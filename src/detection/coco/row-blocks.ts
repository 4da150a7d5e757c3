/** The form of rows between a server and a page: blocks of numbers, JSON of what is no row, and an end that says that all are there. */

/** The numbers of a row, in this order. */
export const ROW = {
  id: 0,
  image: 1,
  category: 2,
  /** The score of a result, the area of an annotation. */
  score: 3,
  /** `mask_score` of a result, NaN without one; `iscrowd` of an annotation. */
  maskScore: 4,
  /** x, y, width and height. */
  box: 5,
  /** The place of the mask in the file: its first byte, and the one after its last. NaN without a mask. */
  maskStart: 9,
  maskEnd: 10,
} as const;

export const ROW_LENGTH = 11;

export const BLOCKS = { rows: 1, rest: 2, end: 3 } as const;

const NUMBER_BYTES = 8;

/** A block has its kind and the length of its content as 32-bit integers, then the content, filled with spaces up to whole numbers of 64 bits. */
export function encodeBlock(kind: number, content: Uint8Array): Uint8Array {
  const length = Math.ceil(content.byteLength / NUMBER_BYTES) * NUMBER_BYTES;
  const block = new Uint8Array(NUMBER_BYTES + length);
  block.fill(0x20, NUMBER_BYTES + content.byteLength);
  new Uint32Array(block.buffer, 0, 2).set([kind, length]);
  block.set(content, NUMBER_BYTES);
  return block;
}

export interface CocoRows {
  readonly blocks: readonly Float64Array[];
  readonly count: number;
  /** JSON of the object without its annotations; undefined for a list of results. */
  readonly rest: string | undefined;
}

/** @returns undefined where the last block is missing or another number of rows is there: the file cannot be had as rows. */
export function decodeRows(bytes: ArrayBuffer): CocoRows | undefined {
  const blocks: Float64Array[] = [];
  let rest: string | undefined;
  let count = 0;
  for (let at = 0; at + NUMBER_BYTES <= bytes.byteLength; ) {
    const [kind, length = 0] = new Uint32Array(bytes, at, 2);
    const start = at + NUMBER_BYTES;
    if (length % NUMBER_BYTES !== 0 || start + length > bytes.byteLength) return undefined;
    if (kind === BLOCKS.rest) rest = new TextDecoder().decode(new Uint8Array(bytes, start, length));
    else {
      const numbers = new Float64Array(bytes, start, length / NUMBER_BYTES);
      if (kind === BLOCKS.end) return numbers[0] === count && start + length === bytes.byteLength ? { blocks, count, rest } : undefined;
      if (kind !== BLOCKS.rows || numbers.length % ROW_LENGTH !== 0) return undefined;
      blocks.push(numbers);
      count += numbers.length / ROW_LENGTH;
    }
    at = start + length;
  }
  return undefined;
}
