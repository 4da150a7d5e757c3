/** The log of a run: one file per stage, which grows during the run and stays if the run fails. */
import { closeSync, lstatSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../model/engine-error.js';

export interface RunLog {
  write(text: string): void;
  /** Ends the log. @returns the written bytes; undefined if nothing was written. */
  close(): Buffer | undefined;
}

const LIMIT_BYTES = 16 << 20;

/**
 * Opens the log at `path`. The file is created with its first line, and an older log is removed at once.
 * `warn` is called once if the log cannot be written.
 */
export function openRunLog(path: string, warn: (message: string) => void): RunLog {
  let file: number | undefined;
  let writtenBytes = 0;
  let state: 'open' | 'full' | 'failed' = 'open';
  const fail = (error: unknown): void => {
    state = 'failed';
    warn(`the log ${path} cannot be written: ${messageOf(error)}`);
  };
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) rmSync(path, { force: true });
  } catch (error) {
    fail(error);
  }
  return {
    write(text) {
      if (state !== 'open') return;
      try {
        if (file === undefined) {
          mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
          file = openSync(path, 'w', 0o600);
        }
        const bytes = Buffer.from(text.slice(0, LIMIT_BYTES)).subarray(0, LIMIT_BYTES - writtenBytes);
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
        writtenBytes += bytes.length;
        if (writtenBytes >= LIMIT_BYTES) {
          writeSync(file, '\n(the log is cut here: it has reached 16 MB)\n');
          state = 'full';
        }
      } catch (error) {
        fail(error);
      }
    },
    close() {
      if (file === undefined) return undefined;
      closeSync(file);
      file = undefined;
      return state === 'failed' ? undefined : readFileSync(path);
    },
  };
}
