/** Writes the build journal: one line per event of a build, in a file that the next build replaces. It decides nothing. */
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { withoutUndefined } from '../../../base/json/without-undefined.js';
import { messageOf } from '../../model/engine-error.js';
import type { BuildEvent } from '../../model/events.js';
import type { Outcome } from '../../model/outcome.js';
import type { EnginePorts } from '../../model/ports.js';
import type { BuildReport } from '../../model/report.js';
import { describeSelf } from '../../store/lock/lock-holder.js';
import type { JournalEntry } from './journal-entry.js';

export interface BuildJournal {
  /** The ports for the build. Events emitted there are written too, once the journal is open. */
  readonly ports: EnginePorts;
  /** Replaces the journal of the build before. Call it only while holding the lock. */
  open(path: string): void;
  close(conclusion: BuildReport['conclusion']): void;
}

/** Time between two entries about the progress of one stage. */
const PROGRESS_MS = 200;

/** A journal with more bytes ends with its last entry, so that a build of days does not fill the disk. */
const MOST_BYTES = 16_000_000;

/** A journal that cannot be written is a warning, and does not affect the build. */
export function keepJournal(outer: EnginePorts): BuildJournal {
  const lastProgress = new Map<string, number>();
  let file: number | undefined;
  let writtenBytes = 0;
  const stop = (error: unknown): void => {
    close();
    const message = `the journal of the build cannot be written (${messageOf(error)}): tanren ui does not follow this build`;
    outer.emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message });
  };
  const close = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  const write = (entry: Omit<JournalEntry, 'atMs'>): void => {
    if (file === undefined || (writtenBytes > MOST_BYTES && entry.kind !== 'end')) return;
    try {
      writtenBytes += writeSync(file, `${JSON.stringify(withoutUndefined({ ...entry, atMs: outer.nowMs() }))}\n`);
    } catch (error) {
      stop(error);
    }
  };
  const isTooSoon = (event: BuildEvent): boolean => {
    if (event.kind !== 'progress') return false;
    const nowMs = performance.now();
    if (event.done < event.total && nowMs - (lastProgress.get(event.stage) ?? Number.NEGATIVE_INFINITY) < PROGRESS_MS) return true;
    lastProgress.set(event.stage, nowMs);
    return false;
  };
  return {
    ports: {
      ...outer,
      emit(event) {
        outer.emit(event);
        if (file === undefined || isTooSoon(event)) return;
        const entry = entryOf(event);
        if (entry !== undefined) write(entry);
      },
    },
    open(path) {
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        // A new file: readers of the former one see that it was replaced.
        rmSync(path, { force: true });
        file = openSync(path, 'wx', 0o600);
      } catch (error) {
        stop(error);
      }
    },
    close(conclusion) {
      write({ kind: 'end', conclusion });
      close();
    },
  };
}

function entryOf(event: BuildEvent): Omit<JournalEntry, 'atMs'> | undefined {
  switch (event.kind) {
    case 'outlook': {
      const { command, pid } = describeSelf();
      const pending = event.outlook.tasks.map(({ stage, expectedMs }) => withoutUndefined({ stage, expectedMs }));
      return { kind: 'build', command, pid, pending };
    }
    case 'stage-started':
      return { kind: 'running', stage: event.stage, reasons: event.reasons.slice(0, 5), attempt: event.attempt };
    case 'progress':
      return { kind: 'progress', stage: event.stage, done: event.done, total: event.total, what: event.what };
    case 'retrying':
      return { kind: 'retrying', stage: event.stage, message: event.message };
    case 'run-outdated':
      return { kind: 'stopped', stage: event.stage, message: event.because };
    case 'outcome':
      return { kind: 'ended', stage: event.stage, ...outcomeOf(event.outcome) };
    case 'gate':
      return { kind: 'gate', stage: event.result.stage, metric: event.result.gate.metric, verdict: event.result.verdict };
    default:
      return undefined;
  }
}

function outcomeOf(outcome: Outcome): Pick<JournalEntry, 'outcome' | 'from' | 'durationMs' | 'message'> {
  switch (outcome.kind) {
    case 'executed':
      return { outcome: 'executed', durationMs: outcome.durationMs };
    case 'failed':
      return { outcome: 'failed', message: outcome.failure.message };
    case 'skipped':
      return { outcome: 'skipped', message: `${outcome.because} failed` };
    case 'restored':
      return { outcome: 'restored', ...(outcome.from === undefined ? {} : { from: outcome.from }) };
    default:
      return { outcome: outcome.kind };
  }
}
