/** Timing of detection steps with a given clock. */
import { makeStopwatch, unmeasured } from '../../../../src/detection/detector/measure.js';

function givenClock() {
  let ms = 0;
  return {
    now: () => ms,
    pass(more: number): void {
      ms += more;
    },
  };
}

describe('measuring steps', () => {
  it('sums the time of each step in the order of first use, and resets when read', async () => {
    const clock = givenClock();
    const { measure, take } = makeStopwatch(clock.now);
    const fitted = measure('transform', () => {
      clock.pass(3);
      return 'fitted';
    });
    expect(fitted).toBe('fitted');
    await measure('backbone', async () => {
      clock.pass(5);
      await Promise.resolve();
      clock.pass(2);
    });
    measure('transform', () => clock.pass(4));
    expect(take()).toEqual([
      { step: 'transform', ms: 7, runs: 2 },
      { step: 'backbone', ms: 7, runs: 1 },
    ]);
    expect(take()).toEqual([]);
  });

  it('gives the same promise on, and lets errors through', async () => {
    const { measure, take } = makeStopwatch(givenClock().now);
    const promise = Promise.resolve(1);
    expect(measure('decode', () => promise)).toBe(promise);
    await expect(measure('decode', () => Promise.reject(new Error('damaged')))).rejects.toThrow('damaged');
    expect(() =>
      measure('paste', () => {
        throw new Error('no box');
      }),
    ).toThrow('no box');
    expect(take()).toEqual([
      { step: 'decode', ms: 0, runs: 1 },
      { step: 'paste', ms: 0, runs: 0 },
    ]);
    expect(unmeasured('decode', () => 5)).toBe(5);
  });
});
