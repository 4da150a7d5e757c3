/** The state of the running or last build, made from the entries of its journal. */
import { anyList, anyText, integer, mapOf, number, object, oneOf } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { type JournalEntry, OUTCOMES } from '../../engine/insight/live/journal-entry.js';

const STAGE = object(
  { state: oneOf(['running', 'retrying', 'stopped', ...OUTCOMES]) },
  {
    startedMs: number(),
    endedMs: number(),
    reasons: anyList(anyText()),
    attempt: integer(1),
    progress: object({ done: number(), total: number(), what: anyText() }),
    durationMs: number(),
    message: anyText(),
    missedGates: anyList(anyText()),
    from: oneOf(['remote'], 'Of a restored stage; absent for the local cache.'),
  },
);

export const RUNNING_BUILD = object(
  {
    state: oneOf(['running', 'ended', 'broken-off'], 'broken-off: its process ended without a conclusion.'),
    command: anyText(),
    pid: integer(0),
    startedMs: number(),
    pending: anyList(object({ stage: anyText() }, { expectedMs: number() }), 'The stages that it may have to run.'),
    stages: mapOf(STAGE),
  },
  { plannedMs: number({}, 'When its plan was made, or last renewed by a watch.'), endedMs: number(), conclusion: anyText() },
);

export type RunningBuild = FromSchema<typeof RUNNING_BUILD>;
export type RunningStage = FromSchema<typeof STAGE>;

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
      return { ...build, command: entry.command ?? '', pid: entry.pid ?? 0, pending: entry.pending ?? [], plannedMs: atMs };
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
        ...(entry.from === undefined ? {} : { from: entry.from }),
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
