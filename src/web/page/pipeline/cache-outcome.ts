/** What the last build did for a stage, in words and with a sign: built, restored from which cache, unchanged. */
import type { StageRow } from '../../../report/views/pipeline-data.js';
import type { RunningBuild } from '../../project/running-build.js';

export interface CacheOutcome {
  readonly sign: string;
  readonly words: string;
  /** The run: "r12", or "now" of the build that runs. */
  readonly run: string | undefined;
}

const OUTCOMES: Readonly<Record<string, readonly [sign: string, words: string]>> = {
  executed: ['▶', 'built'],
  restored: ['↓', 'local cache'],
  remote: ['⇣', 'remote cache'],
  'up-to-date': ['=', 'unchanged'],
  failed: ['✗', 'failed'],
  skipped: ['–', 'skipped'],
  cancelled: ['–', 'cancelled'],
};

/** Of the running build as soon as the stage has ended in it, else of the last one. Undefined if no build is known. */
export function cacheOutcomeOf({ id, last }: Pick<StageRow, 'id' | 'last'>, build: RunningBuild | undefined): CacheOutcome | undefined {
  const live = build?.state === 'running' ? build.stages[id] : undefined;
  const now = live === undefined ? undefined : wordsOf(live.state, live.from);
  if (now !== undefined) return { ...now, run: 'now' };
  const known = last === undefined ? undefined : wordsOf(last.outcome, last.from);
  return known === undefined ? undefined : { ...known, run: last?.run };
}

function wordsOf(outcome: string, from: 'remote' | undefined): Pick<CacheOutcome, 'sign' | 'words'> | undefined {
  const [sign, words] = OUTCOMES[outcome === 'restored' && from === 'remote' ? 'remote' : outcome] ?? [];
  return sign === undefined || words === undefined ? undefined : { sign, words };
}

/** "↓ local cache · r12". */
export function describeOutcome({ sign, words, run }: CacheOutcome): string {
  return `${sign} ${words}${run === undefined ? '' : ` · ${run}`}`;
}
