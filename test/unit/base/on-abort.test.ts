/** Tests of many listeners of one abort signal. */
import { onAbort } from '../../../src/base/on-abort.js';

describe('a listener of an abort', () => {
  it('is called once, unless it was taken back', () => {
    const abort = new AbortController();
    const called: string[] = [];
    onAbort(abort.signal, () => called.push('first'));
    const takeBack = onAbort(abort.signal, () => called.push('second'));
    onAbort(abort.signal, () => called.push('third'));
    takeBack();
    abort.abort();
    expect(called).toEqual(['first', 'third']);
  });

  it('is one of the signal, however many there are', () => {
    const abort = new AbortController();
    let added = 0;
    const { addEventListener } = abort.signal;
    Object.defineProperty(abort.signal, 'addEventListener', {
      value: (...args: Parameters<typeof addEventListener>) => {
        added += 1;
        addEventListener.apply(abort.signal, args);
      },
    });
    let called = 0;
    for (let index = 0; index < 1_000; index++) {
      onAbort(abort.signal, () => {
        called += 1;
      });
    }
    abort.abort();
    expect({ added, called }).toEqual({ added: 1, called: 1_000 });
  });
});
