/** Formats how the results of a frozen build compare with the lock. */
import type { BuildReport, LockVerdict } from '../../engine/model/report.js';
import type { Console } from '../terminal/console.js';

/** No lines if the build was not frozen. */
export function formatLockLines({ stages }: BuildReport, { style }: Console): readonly string[] {
  const having = (verdict: LockVerdict): readonly string[] =>
    [...stages.values()].flatMap(({ stage, locked }) => (locked === verdict ? [stage] : []));
  const [locked, gated, rebuilt] = [having('as-locked'), having('by-gates'), having('rebuilt')];
  return [
    ...(locked.length === 0 ? [] : [`${style('green', '✓')} as locked: ${count(locked.length)}`]),
    ...(gated.length === 0 ? [] : [`  measured, checked by gates only: ${gated.join(', ')}`]),
    ...(rebuilt.length === 0
      ? []
      : [
          `${style('yellow', '!')} rebuilt on this platform class, which the lock file lacks, and checked by gates only: ${rebuilt.join(', ')}`,
        ]),
  ];
}

function count(stages: number): string {
  return `${stages} stage${stages === 1 ? '' : 's'}`;
}
