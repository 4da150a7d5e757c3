/** Reads a file of lines that others append to: the complete new lines, and all of them when another file has taken its place. */
import { readSync, type Stats } from 'node:fs';
import { isMissing } from '../../../base/system-error.js';
import { withRegular } from './read-regular.js';

export interface NewLines {
  /** 'missing': there is no file. 'another': not the one of the last call, or it is shorter: the lines are those from its start. 'same': those since then. */
  readonly file: 'missing' | 'another' | 'same';
  /** Without their ends. */
  readonly lines: readonly string[];
}

const PIECE_BYTES = 1 << 20;

/** @returns a function that reads what is new. It throws an error with the code EFTYPE if there is no regular file, and file system errors. */
export function followLines(path: string): () => NewLines {
  let identity = '';
  let offset = 0;
  let rest = Buffer.alloc(0);
  const readNew = (file: number, { ino, birthtimeMs, size }: Stats): NewLines => {
    const now = `${ino} ${birthtimeMs}`;
    const isAnother = now !== identity || size < offset;
    if (isAnother) [identity, offset, rest] = [now, 0, Buffer.alloc(0)];
    const lines: string[] = [];
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, size - offset));
    for (;;) {
      const length = piece.length === 0 ? 0 : readSync(file, piece, 0, piece.length, offset);
      if (length === 0) return { file: isAnother ? 'another' : 'same', lines };
      offset += length;
      const bytes = Buffer.concat([rest, piece.subarray(0, length)]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      rest = bytes.subarray(end);
      if (end > 0) for (const line of bytes.toString('utf8', 0, end - 1).split('\n')) lines.push(line);
    }
  };
  return () => {
    try {
      return withRegular(path, readNew);
    } catch (error) {
      // After a read that failed half-way, too, the next one begins at the start.
      identity = '';
      if (!isMissing(error)) throw error;
      return { file: 'missing', lines: [] };
    }
  };
}

const NEWLINE = 10;

/** The same for a file whose first line is `header`, without that line. Of a file with another first line there are no lines. */
export function followLog(path: string, header: string): () => NewLines {
  const readLines = followLines(path);
  let first: string | undefined;
  return () => {
    const { file, lines } = readLines();
    if (file !== 'same') first = undefined;
    const records = first === undefined ? lines.slice(1) : lines;
    first ??= lines[0];
    return { file, lines: first === header ? records : [] };
  };
}
