/** The state of the running or last build, made from the entries of its journal. */
import type { JournalEntry } from '../../engine/insight/live/journal-entry.js';

export interface RunningBuild {
  /** 'broken-off': its process ended without a conclusion. */
  readonly state: 'running' | 'ended' | 'broken-off';
  readonly command: string;
  readonly pid: number;
  readonly startedMs: number;
  readonly endedMs?: number;
  readonly conclusion?: string;
  /** The stages that it may have to run. */
  readonly pending: readonly PendingStage[];
  readonly stages: Readonly<Record<string, RunningStage>>;
}

export interface PendingStage {
  readonly stage: string;
  readonly expectedMs?: number;
}

export interface RunningStage {
  readonly state: 'running' | 'retrying' | 'stopped' | NonNullable<JournalEntry['outcome']>;
  readonly startedMs?: number;
  readonly endedMs?: number;
  readonly reasons?: readonly string[];
  readonly attempt?: number;
  readonly progress?: { readonly done: number; readonly total: number; readonly what: string };
  readonly durationMs?: number;
  readonly message?: string;
  readonly missedGates?: readonly string[];
}

/** The build after further entries of its journal. `before` is undefined at the start of a journal. */
export function advanceBuild(before: RunningBuild | undefined, entries: readonly JournalEntry[]): RunningBuild | undefined {
  return entries.reduce(advance, before);
}

function advance(before: RunningBuild | undefined, entry: JournalEntry): RunningBuild | undefined {
  const { kind, atMs, stage = '' } = entry;
  const build: RunningBuild = before ?? { state: 'running', command: '', pid: 0, startedMs: atMs, pending: [], stages: {} };
  const set = (change: RunningStage): RunningBuild => ({
    ...build,
    stages: { ...build.stages, [stage]: { ...build.stages[stage], ...change } },
  });
  switch (kind) {
    case 'build':
      return { ...build, command: entry.command ?? '', pid: entry.pid ?? 0, pending: entry.pending ?? [] };
    case 'running': {
      const fresh: RunningStage = { state: 'running', startedMs: atMs, reasons: entry.reasons ?? [], attempt: entry.attempt ?? 1 };
      return { ...build, stages: { ...build.stages, [stage]: fresh } };
    }
    case 'progress':
      return set({ state: 'running', progress: { done: entry.done ?? 0, total: entry.total ?? 0, what: entry.what ?? '' } });
    case 'retrying':
    case 'stopped':
      return set({ state: kind, message: entry.message ?? '' });
    case 'ended':
      return set({
        state: entry.outcome ?? 'cancelled',
        endedMs: atMs,
        ...(entry.durationMs === undefined ? {} : { durationMs: entry.durationMs }),
        ...(entry.message === undefined ? {} : { message: entry.message }),
      });
    case 'gate': {
      if (entry.verdict !== 'missed') return build;
      const { state = 'up-to-date', missedGates = [], ...others } = build.stages[stage] ?? {};
      return set({ ...others, state, missedGates: [...missedGates, entry.metric ?? ''] });
    }
    default:
      return { ...build, state: 'ended', endedMs: atMs, conclusion: entry.conclusion ?? '' };
  }
}
