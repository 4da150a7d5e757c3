/** Reads the build journal while a build writes it: complete new lines, from the start again when a new build has replaced the file. */
import { followLines } from '../../store/files/follow-lines.js';
import { type JournalEntry, parseJournalEntry } from './journal-entry.js';

export interface JournalReader {
  /**
   * The entries since the last call. `restarted`: they are those of another build, from its beginning. A build opens its journal some time before its
   * first entry, and `restarted` comes with that entry.
   */
  read(): { readonly restarted: boolean; readonly entries: readonly JournalEntry[] };
}

export function followJournal(path: string): JournalReader {
  const readLines = followLines(path);
  let isNew = false;
  return {
    read() {
      const { file, lines } = readLines();
      if (file === 'another') isNew = true;
      const entries = lines.flatMap(line => (line === '' ? [] : (parseJournalEntry(line) ?? [])));
      const restarted = isNew && entries.length > 0;
      if (restarted) isNew = false;
      return { restarted, entries };
    },
  };
}
