/** Are many hints one more look, and is none lost? */
import { makeHints } from '../../../../src/engine/watch/hints.js';

const never = new AbortController().signal;

/** A delay that ends when the test says so. */
function manualDelay() {
  const pending: (() => void)[] = [];
  return {
    delay: () => new Promise<void>(resolve => pending.push(resolve)),
    pass: async () => {
      await Promise.resolve();
      await Promise.resolve();
      pending.shift()?.();
      await Promise.resolve();
      await Promise.resolve();
    },
    pending,
  };
}

describe('hints', () => {
  it('during a look are one more look', async () => {
    const time = manualDelay();
    const hints = makeHints(time.delay);
    hints.begin();
    hints.hint();
    hints.hint();
    const waited = hints.wait(30, never);
    await time.pass();

    expect(await waited).toBe('hinted');
  });

  it('in a burst are waited for until they are quiet', async () => {
    const time = manualDelay();
    const hints = makeHints(time.delay);
    let done = false;
    hints.begin();
    const waited = hints.wait(30, never).then(() => {
      done = true;
    });
    hints.hint();
    await Promise.resolve();
    await Promise.resolve();
    hints.hint();
    await time.pass();
    expect(done).toBe(false);
    await time.pass();
    await waited;

    expect(done).toBe(true);
  });

  it('before a look begins are forgotten: the look sees what they tell of', async () => {
    const time = manualDelay();
    const hints = makeHints(time.delay);
    const abort = new AbortController();
    hints.hint();
    hints.begin();
    const waited = hints.wait(30, abort.signal);
    await Promise.resolve();
    expect(time.pending).toHaveLength(0);
    abort.abort();

    expect(await waited).toBe('aborted');
  });
});
