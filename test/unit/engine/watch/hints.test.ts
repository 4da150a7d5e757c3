/** Many hints lead to one further look, and no hint is lost. */
import { LONGEST_QUIET_MS, makeHints } from '../../../../src/engine/watch/hints.js';

const never = new AbortController().signal;

/** A delay that the test ends. */
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
    hints.hint('input');
    hints.hint('input');
    const waited = hints.wait(['input'], 30, never);
    await time.pass();

    expect(await waited).toBe('hinted');
  });

  it('in a burst are waited for until they are quiet', async () => {
    const time = manualDelay();
    const hints = makeHints(time.delay);
    let done = false;
    const waited = hints.wait(['input'], 30, never).then(() => {
      done = true;
    });
    hints.hint('input');
    await Promise.resolve();
    await Promise.resolve();
    hints.hint('input');
    await time.pass();
    expect(done).toBe(false);
    await time.pass();
    await waited;

    expect(done).toBe(true);
  });

  it('before an examination starts are dropped, because the examination sees the change', async () => {
    const time = manualDelay();
    const hints = makeHints(time.delay);
    const abort = new AbortController();
    hints.hint('input');
    expect(hints.take(['input', 'output'])).toEqual(['input']);
    const waited = hints.wait(['input'], 30, abort.signal);
    await Promise.resolve();
    expect(time.pending).toHaveLength(0);
    abort.abort();

    expect(await waited).toBe('aborted');
  });

  it('without an end are not waited for for ever', async () => {
    const time = manualDelay();
    const hints = makeHints(time.delay);
    hints.hint('input');
    const waited = hints.wait(['input'], Math.ceil(LONGEST_QUIET_MS / 3), never);
    for (let i = 0; i < 3; i++) {
      hints.hint('input');
      await time.pass();
    }

    expect(await waited).toBe('hinted');
  });

  it('of a kind without a waiter wake nothing, and are kept', async () => {
    const hints = makeHints(async () => undefined);
    const abort = new AbortController();
    const waited = hints.wait(['input'], 30, abort.signal);
    hints.hint('output');
    abort.abort();

    expect(await waited).toBe('aborted');
    expect(hints.take(['input', 'output'])).toEqual(['output']);
  });
});
