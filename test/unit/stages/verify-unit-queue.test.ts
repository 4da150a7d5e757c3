/** Which of two threads compares a unit of `verify`: no unit is compared twice or by nobody, and large models are opened for several units only. */
import { fileURLToPath } from 'node:url';
import { takeClaim } from '../../../stages/verify/claim.js';
import type { ValuesThread } from '../../../stages/verify/open-values-thread.js';
import { openUnitQueue, type Unit, type UnitQueue } from '../../../stages/verify/unit-queue.js';

/** Files that are not there: their models count as large. */
const MODELS = { reference: 'a', candidate: 'b' };
const NOTHING = { sums: new Map(), differing: [] };

/** A second thread that compares what it is told to, and otherwise is busy with the unit before. */
function steppedThread() {
  const orders: (() => void)[] = [];
  let claimed = 0;
  const thread: ValuesThread = {
    compare: order =>
      new Promise(resolve => {
        orders.push(() => {
          const isFirst = takeClaim(order.claim);
          if (isFirst) claimed++;
          resolve(isFirst ? NOTHING : undefined);
        });
      }),
    close: async () => undefined,
  };
  const step = async (): Promise<void> => {
    orders.shift()?.();
    await new Promise(resolve => setImmediate(resolve));
  };
  return { thread, step, sent: () => orders.length, claimed: () => claimed };
}

function openQueue(thread: ValuesThread | undefined, models = MODELS) {
  const here: string[] = [];
  const queue = openUnitQueue(thread, async ({ part }) => {
    here.push(part);
    return NOTHING;
  });
  const add = (part: string): Promise<Unit> => queue.add({ part, label: 'sample', models }, {});
  return { queue, here, add };
}

async function finishInSteps(queue: UnitQueue, step: () => Promise<void>): Promise<void> {
  let state: 'open' | 'finished' = 'open';
  const finished = queue.finish().then(() => {
    state = 'finished';
  });
  for (let steps = 0; state === 'open' && steps < 100; steps++) await step();
  expect(state).toBe('finished');
  await finished;
}

describe('the units of verify', () => {
  it('without a second thread, each is compared when it is added', async () => {
    const { add, here } = openQueue(undefined);
    expect((await add('head')).state.kind).toBe('compared');
    expect(here).toEqual(['head']);
  });

  it('two are sent at once, and each is compared by one thread', async () => {
    const { thread, step, sent, claimed } = steppedThread();
    const { queue, add, here } = openQueue(thread);
    const units: Unit[] = [];
    for (let i = 0; i < 6; i++) units.push(await add('head'));
    expect(sent()).toBe(2);
    await step();
    await finishInSteps(queue, step);
    expect(units.map(({ state }) => state.kind)).toEqual(units.map(() => 'compared'));
    expect(claimed()).toBeGreaterThan(0);
    expect(here.length).toBeGreaterThan(0);
    expect(here.length + claimed()).toBe(units.length);
  });

  it('small models are opened by this thread for one unit too', async () => {
    const { thread, step } = steppedThread();
    const small = fileURLToPath(import.meta.url);
    const { queue, add, here } = openQueue(thread, { reference: small, candidate: small });
    for (const part of ['a', 'b', 'c']) await add(part);
    await finishInSteps(queue, step);
    expect(here).toContain('c');
    expect(here).not.toContain('a');
  });

  it('of a part with few units, this thread leaves them to the second one', async () => {
    const { thread, step } = steppedThread();
    const { queue, add, here } = openQueue(thread);
    const units = [await add('a'), await add('b'), await add('a'), await add('b')];
    await finishInSteps(queue, step);
    expect(units.map(({ state }) => state.kind)).toEqual(units.map(() => 'compared'));
    expect(here).toEqual([]);
  });

  it('an error of the second thread ends the comparison', async () => {
    const failing: ValuesThread = { compare: async () => Promise.reject(new Error('lost')), close: async () => undefined };
    const { queue, add } = openQueue(failing);
    await add('a');
    await queue.finish();
    expect(queue.failure()).toEqual({ error: new Error('lost') });
  });
});
