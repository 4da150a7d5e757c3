/** Which result of an action a run had. */
import { resultOf } from '../../../src/web/views/moment-artifact.js';

const stage = (durationMs?: number) => ({
  stage: 'bench',
  outcome: 'executed' as const,
  key: 'k',
  ...(durationMs === undefined ? {} : { durationMs }),
});

describe('the result of a run', () => {
  it('is the only one that an exact action has, whatever the run notes: a forced run takes another time for the same bytes', () => {
    expect(resultOf([{ durationMs: 7 }], stage(), 'exact')).toEqual({ durationMs: 7 });
    expect(resultOf([{ durationMs: 7 }], stage(9), 'exact')).toEqual({ durationMs: 7 });
    expect(resultOf([], stage(7), 'measured')).toBeUndefined();
  });

  it('is the only one that a measured action still has, if it took as long', () => {
    expect(resultOf([{ durationMs: 7 }], stage(7.4), 'measured')).toEqual({ durationMs: 7 });
    expect(() => resultOf([{ durationMs: 7 }], stage(9), 'measured')).toThrow(/no longer has the result of bench that the run had/);
    expect(() => resultOf([{ durationMs: 7 }], stage(), 'measured')).toThrow(/no longer has/);
  });

  it.each([
    [812.3, 812],
    [812.5, 813],
    [789.6, 790],
  ])('is, of several, the one that took as long: %d ms in the history are %d ms in the cache', (noted, kept) => {
    const results = [{ durationMs: 812 }, { durationMs: 790 }, { durationMs: 815 }, { durationMs: 813 }].filter(
      ({ durationMs }) => durationMs === kept || Math.abs(durationMs - kept) > 1,
    );
    expect(resultOf(results, stage(noted), 'measured')?.durationMs).toBe(kept);
  });

  it.each([
    ['the run notes no duration', [1, 2], undefined],
    ['none took as long', [1, 2], 3],
    ['two took as long', [1, 1], 1],
  ])('is refused, of several, where %s', (_, durations, durationMs) => {
    expect(() =>
      resultOf(
        durations.map(one => ({ durationMs: one })),
        stage(durationMs),
        'exact',
      ),
    ).toThrow(/2 results of bench for one key/);
  });
});
