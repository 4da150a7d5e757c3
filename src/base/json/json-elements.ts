/** Streaming reader of large JSON lists, element by element. */
import type { Json } from '../json.js';
import { parsePythonJson } from './python-json.js';

/** The reason why a list could not be read. `index` counts elements from 0. */
export type ListDefect =
  | { readonly kind: 'not-a-list' }
  | { readonly kind: 'element'; readonly index: number; readonly reason: string }
  | { readonly kind: 'cut-off'; readonly index: number }
  | { readonly kind: 'after-list' };

export class JsonListError extends Error {
  override readonly name = 'JsonListError';
  readonly defect: ListDefect;
  constructor(defect: ListDefect) {
    super(`JSON list: ${defect.kind}`);
    this.defect = defect;
  }
}

/** Longer elements are rejected before they are decoded. */
const LONGEST_ELEMENT_BYTES = 1 << 28;

/**
 * The elements of a JSON list, as `parsePythonJson` reads them, from chunks of any size, as many at a time as end in a chunk. At most one element and one chunk are kept in memory.
 * @throws JsonListError if the input is not a list, or an element is not JSON.
 */
export async function* readListElements(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Json[]> {
  const scan = makeScanner();
  for await (const { buffer, byteOffset, byteLength } of chunks) yield scan.take(Buffer.from(buffer, byteOffset, byteLength));
  scan.end();
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 44, 91, 93, 123, 125] as const;
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

interface Scanner {
  /** The elements that end in this chunk. */
  take(chunk: Buffer): readonly Json[];
  end(): void;
}

function makeScanner(): Scanner {
  let where: 'before' | 'inside' | 'after' = 'before';
  let [depth, index] = [0, 0];
  let [inString, escaped, filled] = [false, false, false];
  /** The beginning of the current element, from previous chunks. */
  let begun: Buffer[] = [];
  let begunBytes = 0;

  const finish = (last: Buffer): Json => {
    const bytes = begun.length === 0 ? last : Buffer.concat([...begun, last]);
    [begun, begunBytes, filled] = [[], 0, false];
    return parseElement(bytes, index++);
  };
  const keep = (part: Buffer): void => {
    begunBytes += part.length;
    if (begunBytes > LONGEST_ELEMENT_BYTES) throw new JsonListError({ kind: 'element', index, reason: 'it is too long' });
    begun.push(Buffer.from(part));
  };
  /** The offset at which the list begins; the length of the chunk if it does not begin in it. */
  const open = (chunk: Buffer): number => {
    const from = chunk.findIndex(byte => !isSpace(byte) && !BYTE_ORDER_MARK.includes(byte));
    if (from < 0) return chunk.length;
    if (chunk[from] !== OPEN_LIST) throw new JsonListError({ kind: 'not-a-list' });
    where = 'inside';
    return from + 1;
  };

  return {
    take(chunk) {
      const elements: Json[] = [];
      let start = where === 'before' ? open(chunk) : 0;
      for (let i = start; i < chunk.length; i++) {
        const byte = chunk[i] as number;
        if (inString) {
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) inString = false;
        } else if (isSpace(byte)) {
          // Other characters between elements or inside one need no action.
        } else if (where === 'after') {
          throw new JsonListError({ kind: 'after-list' });
        } else if (depth === 0 && (byte === COMMA || byte === CLOSE_LIST)) {
          const isEmptyList = byte === CLOSE_LIST && index === 0 && !filled;
          if (!isEmptyList) elements.push(finish(chunk.subarray(start, i)));
          start = i + 1;
          if (byte === CLOSE_LIST) where = 'after';
        } else {
          filled = true;
          if (byte === QUOTE) inString = true;
          else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
          else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth = Math.max(0, depth - 1);
        }
      }
      if (where === 'inside' && start < chunk.length) keep(chunk.subarray(start));
      return elements;
    },
    end() {
      if (where === 'before') throw new JsonListError({ kind: 'not-a-list' });
      if (where === 'inside') throw new JsonListError({ kind: 'cut-off', index });
    },
  };
}

function parseElement(bytes: Buffer, index: number): Json {
  try {
    return parsePythonJson(bytes.toString('utf8'));
  } catch (error) {
    throw new JsonListError({ kind: 'element', index, reason: error instanceof Error ? error.message : String(error) });
  }
}

function isSpace(byte: number): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9;
}
