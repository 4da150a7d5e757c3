/** How each stage ended in the last recorded build that it was part of. */
import type { RunRecord } from '../../engine/insight/history/run-record.js';
import type { LastOutcome } from '../../report/views/pipeline-data.js';

/**
 * A run lists the stages that it did something for. A build of everything found the others up to date, as far as they existed: those that an earlier run
 * lists.
 * @param runs oldest first.
 */
export function findLastOutcomes(runs: readonly Pick<RunRecord, 'run' | 'asked' | 'stages'>[]): ReadonlyMap<string, LastOutcome> {
  const found = new Map<string, LastOutcome>();
  /** The newest build of everything so far. */
  let whole: string | undefined;
  for (const { run, asked, stages } of runs.toReversed()) {
    for (const { stage, outcome, from } of stages) {
      if (found.has(stage)) continue;
      found.set(
        stage,
        whole !== undefined ? { run: whole, outcome: 'up-to-date' } : { run, outcome, ...(from === undefined ? {} : { from }) },
      );
    }
    if (asked.targets.length === 0) whole ??= run;
  }
  return found;
}
