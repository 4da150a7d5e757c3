/** The lines at the end of a frozen build that compare the results with the lock. */

import { formatLockLines } from '../../../src/cli/render/lock-lines.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import type { BuildReport, LockVerdict } from '../../../src/engine/model/report.js';
import { makeTextConsole } from '../../support/text-console.js';

function reportOf(verdicts: Readonly<Record<string, LockVerdict | undefined>>): BuildReport {
  const stages = Object.entries(verdicts).map(([id, locked]) => {
    const stage = id as StageId;
    return [
      stage,
      { stage, outcome: { kind: 'up-to-date' }, metrics: undefined, previousMetrics: undefined, locked, artifacts: {} },
    ] as const;
  });
  return { stages: new Map(stages), gates: [], checks: [], durationMs: 0, conclusion: 'built' };
}

describe('the end of a build', () => {
  it('counts reproduced stages, and names stages that are checked by gates only', () => {
    const report = reportOf({ export: 'as-locked', bench: 'by-gates', model: 'rebuilt', after: 'rebuilt', failed: undefined });

    expect(formatLockLines(report, makeTextConsole())).toEqual([
      '✓ as locked: 1 stage',
      '  measured, checked by gates only: bench',
      '! rebuilt on this platform class, which the lock file lacks, and checked by gates only: model, after',
    ]);
  });

  it('prints nothing about the lock if the build was not frozen', () => {
    expect(formatLockLines(reportOf({ export: undefined }), makeTextConsole())).toEqual([]);
  });
});
