import { isOutdated } from '../../../src/web/page/parts/states.js';

describe('the results of a stage', () => {
  it.each([
    ['up-to-date', {}, false],
    ['stale', {}, true],
    ['undecided', {}, true],
    ['impossible', {}, true],
    // A build would take it from the cache, and shows it already.
    ['restorable', { cached: true }, false],
    // What is under artifacts/ is of other inputs.
    ['restorable', {}, true],
  ] as const)('%s %j are outdated: %s', (state, cached, expected) => expect(isOutdated({ state, built: true, ...cached })).toBe(expected));

  it('that was never built are not outdated', () => expect(isOutdated({ state: 'stale', built: false })).toBe(false));
});
