/** Which result of an action a run had. */
import { resultOf } from '../../../src/web/views/moment-artifact.js';

const stage = (durationMs?: number) => ({
  stage: 'bench',
  outcome: 'executed' as const,
  key: 'k',
  ...(durationMs === undefined ? {} : { durationMs }),
});

describe('the result of a run', () => {
  it('is the only one that its action has, whatever the run notes', () => {
    expect(resultOf([{ durationMs: 7 }], stage())).toEqual({ durationMs: 7 });
    expect(resultOf([], stage(7))).toBeUndefined();
  });

  it('is, of several, the one that took as long, to a tenth of a millisecond', () => {
    const results = [{ durationMs: 812.3461 }, { durationMs: 790.02 }, { durationMs: 812.9 }];
    expect(resultOf(results, stage(812.3))).toBe(results[0]);
    expect(resultOf(results, stage(790))).toBe(results[1]);
  });

  it.each([
    ['the run notes no duration', [1, 2], undefined],
    ['none took as long', [1, 2], 3],
    ['two took as long', [1.01, 1.02], 1],
  ])('is refused, of several, where %s', (_, durations, durationMs) => {
    expect(() =>
      resultOf(
        durations.map(one => ({ durationMs: one })),
        stage(durationMs),
      ),
    ).toThrow(/2 results of bench for one key/);
  });
});
