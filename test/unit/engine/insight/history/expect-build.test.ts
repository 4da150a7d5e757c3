/** The expected time of a build that has not started. */
import { expectBuild } from '../../../../../src/engine/insight/history/expect-build.js';
import type { Examined, StageStatus } from '../../../../../src/engine/insight/status/stage-status.js';
import { planWith } from '../../../../support/report-of.js';

const plan = { ...planWith({ a: { uses: 'make' }, b: { uses: 'make', reads: ['a'] }, c: { uses: 'make' } }), pools: { cpu: 1 } };
const stale: StageStatus = { kind: 'stale', reasons: [], changes: [], after: [] };
const undecided: StageStatus = { kind: 'undecided', because: [], changes: [] };
const upToDate: StageStatus = { kind: 'up-to-date' };

/** The expectation if each stage last took 10 s. `never`: a stage that has never run. */
function expected(statuses: Readonly<Record<string, StageStatus>>, options: { readonly jobs?: number; readonly never?: string } = {}) {
  const examined = Object.entries(statuses).map(([stage, status]) => {
    const accepted = stage === options.never ? undefined : { durationMs: 10_000 };
    return [stage, { status, accepted } as unknown as Examined] as const;
  });
  return expectBuild(plan, new Map(examined), options.jobs);
}

describe('the expected time of a build', () => {
  it('is that of the stages that would run, with the slots that there are', () => {
    expect(expected({ a: stale, c: stale })).toEqual({ durationMs: 20_000, certainty: 'about' });
    expect(expected({ a: stale, c: stale }, { jobs: 2 })).toEqual({ durationMs: 10_000, certainty: 'about' });
    expect(expected({ a: upToDate, c: stale })).toEqual({ durationMs: 10_000, certainty: 'about' });
  });

  it('is an upper bound if some stages may not run', () => {
    expect(expected({ a: stale, b: undecided, c: stale }, { jobs: 8 })).toEqual({ durationMs: 20_000, certainty: 'up-to' });
  });

  it('is undefined if nothing runs, or a stage cannot run or has never run', () => {
    expect(expected({ a: upToDate })).toBeUndefined();
    expect(expected({ a: stale, b: undecided }, { never: 'b' })).toBeUndefined();
    expect(expected({ a: stale, c: { kind: 'impossible', failure: { code: 'x' } as never } })).toBeUndefined();
  });
});
