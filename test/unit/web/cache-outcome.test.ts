/** What the last build did for each stage: built, restored from which cache, unchanged. */
import { cacheOutcomeOf, describeOutcome } from '../../../src/web/page/pipeline/cache-outcome.js';
import type { RunningBuild } from '../../../src/web/project/running-build.js';
import { findLastOutcomes } from '../../../src/web/views/last-outcomes.js';

type Run = Parameters<typeof findLastOutcomes>[0][number];

const run = (name: string, targets: readonly string[], ...stages: Run['stages']): Run => ({
  run: name,
  asked: { targets: [...targets], params: [], force: false, keepGoing: false, jobs: 1 },
  stages: [...stages],
});
const ended = (stage: string, outcome: Run['stages'][number]['outcome'], more: object = {}) => ({ stage, outcome, ...more });

describe('the last outcome of a stage', () => {
  it('is that of the newest build that lists it; a build of everything found the others unchanged', () => {
    const found = findLastOutcomes([
      run('r1', [], ended('a', 'executed'), ended('b', 'restored', { from: 'remote' }), ended('c', 'restored')),
      run('r2', [], ended('a', 'failed')),
      run('r3', ['b'], ended('b', 'executed')),
    ]);
    expect(Object.fromEntries(found)).toEqual({
      a: { run: 'r2', outcome: 'failed' },
      b: { run: 'r3', outcome: 'executed' },
      c: { run: 'r2', outcome: 'up-to-date' },
    });
  });

  it('says nothing of a stage that no build lists, and a build of some stages nothing of others', () => {
    const found = findLastOutcomes([run('r1', [], ended('a', 'executed')), run('r2', ['b'], ended('b', 'executed'))]);
    expect(found.get('a')).toEqual({ run: 'r1', outcome: 'executed' });
    expect(found.get('new')).toBeUndefined();
  });
});

describe('the words of an outcome', () => {
  const building = (stages: RunningBuild['stages']): RunningBuild => ({
    state: 'running',
    command: '',
    pid: 1,
    startedMs: 0,
    pending: [],
    stages,
  });
  const told = (last: object | undefined, build?: RunningBuild): string | undefined => {
    const outcome = cacheOutcomeOf({ id: 'a', ...(last === undefined ? {} : { last: last as never }) }, build);
    return outcome === undefined ? undefined : describeOutcome(outcome);
  };

  it.each([
    [{ run: 'r3', outcome: 'executed' }, '▶ built · r3'],
    [{ run: 'r3', outcome: 'restored' }, '↓ local cache · r3'],
    [{ run: 'r3', outcome: 'restored', from: 'remote' }, '⇣ remote cache · r3'],
    [{ run: 'r3', outcome: 'up-to-date' }, '= unchanged · r3'],
    [{ run: 'r3', outcome: 'failed' }, '✗ failed · r3'],
    [{ run: 'r3', outcome: 'skipped' }, '– skipped · r3'],
    [{ outcome: 'executed' }, '▶ built'],
    [undefined, undefined],
  ])('%j', (last, expected) => {
    expect(told(last)).toBe(expected);
  });

  it('are those of the running build as soon as the stage has ended in it', () => {
    const last = { run: 'r3', outcome: 'executed' };
    expect(told(last, building({ a: { state: 'running' } }))).toBe('▶ built · r3');
    expect(told(last, building({ a: { state: 'restored', from: 'remote' } }))).toBe('⇣ remote cache · now');
    expect(told(undefined, building({}))).toBeUndefined();
  });
});
