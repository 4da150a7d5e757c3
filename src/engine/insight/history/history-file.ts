/**
 * The history file: one log per pipeline, with one checksummed line per build.
 * The oldest records are removed when it grows large.
 */
import { appendFileSync, closeSync, mkdirSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isMissing } from '../../../base/system-error.js';
import { encodeCheckedLine, isWholeLine, parseCheckedLine } from '../../store/files/checked-line.js';
import { followLog } from '../../store/files/follow-lines.js';
import { readRegularText } from '../../store/files/read-regular.js';
import { clearEmptyFolder, renameOver } from '../../store/files/write-file.js';
import { encodeRun, parseRun, type RunRecord } from './run-record.js';

export interface LoadedHistory {
  /** Oldest first. */
  readonly runs: readonly RunRecord[];
  /** Lines that failed their check and were skipped. */
  readonly damagedLines: number;
}

const VERSION = 1;
const HEADER = `tanren-history ${VERSION}\n`;

/** A log larger than this is cut to the newest runs, at most `KEPT_BYTES` in total. The newest run is kept whatever its size. */
export const MOST_BYTES = 4_000_000;
export const KEPT_BYTES = 3_000_000;

/** A missing file gives an empty history. @throws other file system errors. */
export function loadHistory(path: string): LoadedHistory {
  const { lines, damagedLines } = splitLines(readIfThere(path));
  const runs: RunRecord[] = [];
  let damaged = damagedLines;
  for (const line of lines) {
    const record = parseLine(line);
    if (record === undefined) damaged += 1;
    else runs.push(record);
  }
  return { runs, damagedLines: damaged };
}

/** @returns a function that returns the runs as they are now, oldest first. It reads what was appended: the file may have megabytes. @throws as `loadHistory`. */
export function followHistory(path: string): () => readonly RunRecord[] {
  const readNew = followLog(path, HEADER.trimEnd());
  let runs: readonly RunRecord[] = [];
  return () => {
    const { file, lines } = readNew();
    const added = lines.flatMap(line => parseLine(line) ?? []);
    if (file !== 'same') runs = added;
    else if (added.length > 0) runs = [...runs, ...added];
    return runs;
  };
}

/**
 * Adds a run with the next number. Call only while holding the lock. Reads only the newest run.
 * @returns the number of the run; undefined if a newer Tanren wrote the log, which is then not changed.
 * @throws file system errors.
 */
export function appendRun(path: string, run: Omit<RunRecord, 'run'>): string | undefined {
  clearEmptyFolder(path);
  const end = readEnd(path);
  if (end.kind === 'newer') return undefined;
  const record: RunRecord = { ...run, run: nextAfter(end.kind === 'whole' ? end.newest : findNewest(splitLines(readIfThere(path)).lines)) };
  const line = encodeCheckedLine(encodeRun(record));
  if (end.kind === 'whole' && end.sizeBytes + Buffer.byteLength(line) <= MOST_BYTES) appendFileSync(path, line, { mode: 0o600 });
  else {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rewrite(path, [...splitLines(readIfThere(path)).lines, line.slice(0, -1)]);
  }
  return record.run;
}

type End =
  | { readonly kind: 'whole'; readonly newest: RunRecord; readonly sizeBytes: number }
  /** The header has a higher version. */
  | { readonly kind: 'newer' }
  /** The log is missing, or does not end with an intact run because of a kill or damage. It is rewritten. */
  | { readonly kind: 'other' };

const PIECE_BYTES = 64 << 10;

/** Reads the newest run from the end of the log. */
function readEnd(path: string): End {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const file = size > HEADER.length ? openSync(path, 'r') : undefined;
  if (file === undefined) return { kind: 'other' };
  try {
    const head = Buffer.alloc(HEADER.length);
    readSync(file, head, 0, head.length, 0);
    if (head.toString() !== HEADER) return { kind: isNewer(file) ? 'newer' : 'other' };
    for (let length = PIECE_BYTES; ; length *= 4) {
      const piece = Buffer.alloc(Math.min(length, size));
      readSync(file, piece, 0, piece.length, size - piece.length);
      const start = piece.lastIndexOf(NEWLINE, piece.length - 2) + 1;
      if (start === 0 && piece.length < size) continue;
      const newest = piece.at(-1) === NEWLINE ? parseLine(piece.toString('utf8', start, piece.length - 1)) : undefined;
      return newest === undefined ? { kind: 'other' } : { kind: 'whole', newest, sizeBytes: size };
    }
  } finally {
    closeSync(file);
  }
}

const NEWLINE = 10;

function isNewer(file: number): boolean {
  const head = Buffer.alloc(32);
  const length = readSync(file, head, 0, head.length, 0);
  const version = /^tanren-history (\d{1,9})\n/.exec(head.toString('latin1', 0, length))?.[1];
  return version !== undefined && Number(version) > VERSION;
}

/** The lines after the header. A log with another header counts as one damaged line. */
function splitLines(text: string): { readonly lines: readonly string[]; readonly damagedLines: number } {
  if (text === '') return { lines: [], damagedLines: 0 };
  if (!text.startsWith(HEADER)) return { lines: [], damagedLines: 1 };
  const lines = text.slice(HEADER.length).split('\n');
  // An incomplete last line is not damage: a killed build has no record.
  lines.pop();
  return { lines, damagedLines: 0 };
}

function parseLine(line: string): RunRecord | undefined {
  const record = parseCheckedLine(line);
  return record === undefined ? undefined : parseRun(record);
}

function findNewest(lines: readonly string[]): RunRecord | undefined {
  for (const line of lines.toReversed()) {
    const record = parseLine(line);
    if (record !== undefined) return record;
  }
  return undefined;
}

function nextAfter(newest: RunRecord | undefined): string {
  return `r${newest === undefined ? 1 : Number(newest.run.slice(1)) + 1}`;
}

/** Drops lines that fail their check and, if the log is too large, the oldest runs. */
function rewrite(path: string, lines: readonly string[]): void {
  const whole = lines.filter(isWholeLine);
  const sizes = whole.map(line => Buffer.byteLength(line) + 1);
  const total = sizes.reduce((sum, size) => sum + size, HEADER.length);
  let sizeBytes = total;
  let first = 0;
  while (total > MOST_BYTES && sizeBytes > KEPT_BYTES && first < whole.length - 1) {
    sizeBytes -= sizes[first] ?? 0;
    first += 1;
  }
  const temporary = `${path}.tmp`;
  writeFileSync(temporary, `${HEADER}${whole.slice(first).join('\n')}\n`, { mode: 0o600, flush: true });
  renameOver(temporary, path);
}

function readIfThere(path: string): string {
  try {
    return readRegularText(path);
  } catch (error) {
    if (isMissing(error)) return '';
    throw error;
  }
}
