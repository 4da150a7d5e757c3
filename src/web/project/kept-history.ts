/** The runs of the history, read again where its file has changed: it may have megabytes. */
import { loadHistory } from '../../engine/insight/history/history-file.js';
import type { RunRecord } from '../../engine/insight/history/run-record.js';
import { stampOf } from '../../engine/store/files/stamp.js';

/** @returns the runs as they are now, oldest first. @throws file system errors. */
export function keepHistory(path: string): () => readonly RunRecord[] {
  let stamp = '';
  let runs: readonly RunRecord[] = [];
  return () => {
    const now = stampOf(path);
    if (now !== stamp || now === '') {
      runs = loadHistory(path).runs;
      stamp = now;
    }
    return runs;
  };
}
