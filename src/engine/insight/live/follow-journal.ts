/** Reads the build journal while a build writes it: complete new lines, from the start again when a new build has replaced the file. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isMissing } from '../../../base/system-error.js';
import { type JournalEntry, parseJournalEntry } from './journal-entry.js';

export interface JournalReader {
  /**
   * The entries since the last call. `restarted`: they are those of another build, from its beginning. A build opens its journal some time before its
   * first entry, and `restarted` comes with that entry.
   */
  read(): { readonly restarted: boolean; readonly entries: readonly JournalEntry[] };
}

const PIECE_BYTES = 1 << 20;

export function followJournal(path: string): JournalReader {
  let identity = '';
  let offset = 0;
  let rest = Buffer.alloc(0);
  let isNew = false;
  return {
    read() {
      const file = openIfThere(path);
      if (file === undefined) return { restarted: false, entries: [] };
      try {
        const { ino, birthtimeMs, size } = fstatSync(file);
        if (`${ino} ${birthtimeMs}` !== identity || size < offset)
          [identity, offset, rest, isNew] = [`${ino} ${birthtimeMs}`, 0, Buffer.alloc(0), true];
        const entries: JournalEntry[] = [];
        const piece = Buffer.alloc(Math.min(PIECE_BYTES, Math.max(0, size - offset)));
        for (;;) {
          const length = piece.length === 0 ? 0 : readSync(file, piece, 0, piece.length, offset);
          if (length === 0) {
            const restarted = isNew && entries.length > 0;
            if (restarted) isNew = false;
            return { restarted, entries };
          }
          offset += length;
          const bytes = Buffer.concat([rest, piece.subarray(0, length)]);
          const end = bytes.lastIndexOf(10) + 1;
          rest = bytes.subarray(end);
          for (const line of bytes.toString('utf8', 0, end).split('\n')) {
            const entry = line === '' ? undefined : parseJournalEntry(line);
            if (entry !== undefined) entries.push(entry);
          }
        }
      } finally {
        closeSync(file);
      }
    },
  };
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
