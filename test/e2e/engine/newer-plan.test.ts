/** What becomes of a stage when a newer plan comes while the build runs: one test per row of the table in docs/watch.md. */
import { rmSync } from 'node:fs';
import type { BuildEvent } from '../../../src/engine/model/events.js';
import { createRevisions, type Revisions } from '../../../src/engine/model/revisions.js';
import type { StageSpec } from '../../support/plan-of.js';
import type { Built, World } from '../../support/world.js';
import { givenWorld } from '../../support/world.js';

let world: World;
beforeEach(() => {
  world = givenWorld({}, { 'source.txt': 'one', 'other.txt': 'two' });
});
afterEach(() => world.remove());

type Stages = Readonly<Record<string, StageSpec>>;

/** A stage that runs until the file `go` is there. */
const waits = (params = {}, text = 'source.txt'): StageSpec => ({
  uses: 'act',
  params: { until: world.path('go'), trace: world.path('trace'), ...params },
  inputs: { text },
});

interface Turned extends Built {
  /** Why runs were stopped, by stage. */
  readonly stopped: Readonly<Record<string, string>>;
  /** Stages in the order in which runs started. */
  readonly started: readonly string[];
}

interface ActionLock {
  readonly edit?: () => void;
  /** The moment of the edit and of the newer plan: the first event of which this is true. */
  readonly when?: (event: BuildEvent) => boolean;
  /** When waiting stages may end: once a run has been stopped, or, where none is to be stopped, some time after the newer plan has been looked at. */
  readonly letGo: 'when-stopped' | 'later';
}

/** Builds `before`, hands over the plan of `after` while it runs, and lets waiting stages end. */
async function turn(before: Stages, after: Stages, { edit = () => undefined, when = isStarted, letGo }: ActionLock): Promise<Turned> {
  world.stages = before;
  const first = await world.plan();
  world.stages = after;
  const newer = await world.plan();
  world.stages = before;
  const revisions: Revisions = createRevisions({ plan: first, targets: 'all' });
  let outlooks = 0;
  let turned = false;
  let timer: NodeJS.Timeout | undefined;
  const go = (): void => world.write('go', '');
  const emit = (event: BuildEvent): void => {
    if (event.kind === 'outlook' && ++outlooks === 2 && letGo === 'later') timer = setTimeout(go, 500);
    if (event.kind === 'run-outdated' && letGo === 'when-stopped') go();
    if (turned || !when(event)) return;
    turned = true;
    edit();
    revisions.revise({ plan: newer, targets: 'all' });
  };
  const built = await world.build({ revisions, failures: 'keep-going' }, { emit });
  clearTimeout(timer);
  expect(outlooks).toBe(2);
  const stopped = built.events.flatMap(event => (event.kind === 'run-outdated' ? [[event.stage, event.because] as const] : []));
  const started = built.events.flatMap(event => (event.kind === 'stage-started' ? [event.stage] : []));
  return { ...built, stopped: Object.fromEntries(stopped), started };
}

function isStarted(event: BuildEvent): boolean {
  return event.kind === 'stage-started';
}

describe('a stage that runs when a newer plan comes', () => {
  it('continues if its action and everything that it read are unchanged', async () => {
    const { outcomes, stopped, started } = await turn(
      { a: waits() },
      { a: waits(), b: { uses: 'strip', inputs: { text: 'other.txt' } } },
      { letGo: 'later' },
    );
    expect(outcomes).toEqual({ a: 'executed', b: 'executed' });
    expect(stopped).toEqual({});
    expect(started.filter(stage => stage === 'a')).toHaveLength(1);
    expect(world.read('trace')).toBe('start \nend \n');
  });

  it('is stopped and runs again if its params changed', async () => {
    const { outcomes, stopped, started } = await turn({ a: waits({ add: '1' }) }, { a: waits({ add: '2' }) }, { letGo: 'when-stopped' });
    expect(outcomes).toEqual({ a: 'executed' });
    expect(stopped).toEqual({ a: 'params.add: "1" → "2"' });
    expect(started).toEqual(['a', 'a']);
    expect(world.read('artifacts/a/text')).toBe('one2');
  });

  it('is stopped and runs again if a source that it reads changed', async () => {
    const { outcomes, stopped } = await turn(
      { a: waits() },
      { a: waits() },
      { edit: () => world.write('source.txt', 'three'), letGo: 'when-stopped' },
    );
    expect(outcomes).toEqual({ a: 'executed' });
    expect(stopped).toEqual({ a: 'source source.txt changed' });
    expect(world.read('artifacts/a/text')).toBe('three');
  });

  it('is stopped if the newer plan has no such stage', async () => {
    const { outcomes, stopped } = await turn(
      { a: waits() },
      { b: { uses: 'strip', inputs: { text: 'other.txt' } } },
      { letGo: 'when-stopped' },
    );
    expect(outcomes).toEqual({ b: 'executed' });
    expect(stopped).toEqual({ a: 'it is no longer built' });
  });

  it('is stopped if the result of its new action already exists', async () => {
    world.write('go', '');
    world.stages = { a: waits({ add: '2' }) };
    await world.build();
    rmSync(world.path('go'));
    const { outcomes, stopped, started } = await turn({ a: waits({ add: '1' }) }, { a: waits({ add: '2' }) }, { letGo: 'when-stopped' });
    expect(outcomes).toEqual({ a: 'up-to-date' });
    expect(Object.keys(stopped)).toEqual(['a']);
    expect(started).toEqual(['a']);
  });

  it('is stopped if a stage before it runs again', async () => {
    const first = (add: string): StageSpec => ({ uses: 'act', params: { add }, inputs: { text: 'source.txt' } });
    const reader = waits({}, 'first.text');
    const { outcomes, stopped, started } = await turn(
      { first: first('1'), reader },
      { first: first('2'), reader },
      { when: event => event.kind === 'stage-started' && event.stage === 'reader', letGo: 'when-stopped' },
    );
    expect(outcomes).toEqual({ first: 'executed', reader: 'executed' });
    expect(Object.keys(stopped)).toEqual(['reader']);
    expect(started).toEqual(['first', 'reader', 'first', 'reader']);
    expect(world.read('artifacts/reader/text')).toBe('one2');
  });
});

describe('a stage that has ended when a newer plan comes', () => {
  const ended = (stage: string) => (event: BuildEvent) => event.kind === 'outcome' && event.stage === stage;

  it('is reported as executed if its result is still valid', async () => {
    const { outcomes, started } = await turn(
      { a: { uses: 'strip', inputs: { text: 'other.txt' } }, b: waits() },
      { a: { uses: 'strip', inputs: { text: 'other.txt' } }, b: waits() },
      { when: ended('a'), letGo: 'later' },
    );
    expect(outcomes).toEqual({ a: 'executed', b: 'executed' });
    expect(started.filter(stage => stage === 'a')).toHaveLength(1);
  });

  it('is not tried again if it failed and its action is unchanged', async () => {
    const bad: StageSpec = { uses: 'act', params: { failUnless: '/nowhere/at/all' } };
    const { outcomes, started } = await turn({ bad, b: waits() }, { bad, b: waits() }, { when: ended('bad'), letGo: 'later' });
    expect(outcomes).toEqual({ bad: 'failed', b: 'executed' });
    expect(started.filter(stage => stage === 'bad')).toHaveLength(1);
  });

  it('is tried again if it failed and its action changed', async () => {
    const bad = (failUnless: string): StageSpec => ({ uses: 'act', params: { failUnless } });
    const { outcomes, started } = await turn(
      { bad: bad('/nowhere'), b: waits() },
      { bad: bad(world.path('source.txt')), b: waits() },
      { when: ended('bad'), letGo: 'later' },
    );
    expect(outcomes).toEqual({ bad: 'executed', b: 'executed' });
    expect(started.filter(stage => stage === 'bad')).toHaveLength(2);
  });
});

it('a stage that waits for its pool when a newer plan comes starts once, under the newer plan', async () => {
  const exclusive = (spec: StageSpec): StageSpec => ({ ...spec, resources: { npu: 1 } });
  const { outcomes, started } = await turn(
    { a: exclusive(waits()), b: exclusive(waits({ add: '1' }, 'other.txt')) },
    { a: exclusive(waits()), b: exclusive(waits({ add: '2' }, 'other.txt')) },
    { letGo: 'later' },
  );
  expect(outcomes).toEqual({ a: 'executed', b: 'executed' });
  expect(started).toEqual(['a', 'b']);
  expect(world.read('artifacts/b/text')).toBe('two2');
});
