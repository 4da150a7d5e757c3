/** How stages ended: in a saved page in the build that wrote it, else their state now. */
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { lookOf } from '../parts/states.js';

export function outcomeOf({ outcome, state }: Pick<StageRow, 'outcome' | 'state'>): string {
  return outcome ?? state;
}

/** "3 built, 2 restored". */
export function countOutcomes(stages: readonly StageRow[]): string {
  const counts = new Map<string, number>();
  for (const stage of stages) {
    const { word } = lookOf(outcomeOf(stage));
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
}
