/** Runs of the history for tests, written with only what matters. */
import type { RunRecord, RunStage } from '../../src/engine/insight/history/run-record.js';

export function runOf(parts: Partial<RunRecord> = {}): RunRecord {
  return {
    run: 'r1',
    started: '2026-11-21T13:40:02.000Z',
    durationMs: 100,
    asked: { targets: [], params: [], force: false, keepGoing: false, jobs: 2 },
    params: {},
    conclusion: 'built',
    stages: [],
    upToDate: 0,
    gates: [],
    criticalPath: [],
    ...parts,
  };
}

export function ranStage(stage: string, parts: Partial<RunStage> = {}): RunStage {
  return { stage, outcome: 'executed', durationMs: 10, ...parts };
}
