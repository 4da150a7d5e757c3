/** The queue starts the most urgent stage that fits. */

import type { PlannedStage, StageId } from '../../../../src/engine/model/plan.js';
import { computePriority, computeUrgency } from '../../../../src/engine/schedule/critical-path.js';
import { createStageQueue } from '../../../../src/engine/schedule/stage-queue.js';

const span = { file: '', line: 1, column: 1, endLine: 1, endColumn: 1 };

describe('the queue', () => {
  it('starts the most urgent first, and never more than there are units', async () => {
    const world = watch({ cpu: 2 });
    const ends = [world.add('first', 1), world.add('second', 1), world.add('low', 0), world.add('high', 9), world.add('middle', 5)];
    await world.settle();
    expect(world.started).toEqual(['first', 'second']);
    await world.finish('first');
    expect(world.started).toEqual(['first', 'second', 'high']);
    await world.finish('high');
    await world.finish('second');
    expect(world.started).toEqual(['first', 'second', 'high', 'middle', 'low']);
    await world.finish('middle');
    await world.finish('low');
    await Promise.all(ends);
    expect(world.most).toBe(2);
  });

  it('starts stages that fit before stages that do not: a full pool does not block other stages', async () => {
    const world = watch({ cpu: 4, npu: 1 });
    const ends = [world.add('a', 9, { cpu: 1, npu: 1 }), world.add('b', 8, { cpu: 1, npu: 1 }), world.add('c', 1, { cpu: 1 })];
    await world.settle();
    expect(world.started).toEqual(['a', 'c']);
    for (const name of ['a', 'b', 'c']) await world.finish(name);
    await Promise.all(ends);
    expect(world.started).toEqual(['a', 'c', 'b']);
  });

  it('gives a stage that asks for more than there is everything', async () => {
    const world = watch({ cpu: 2 });
    const ends = [world.add('huge', 1, { cpu: 16 }), world.add('small', 0)];
    await world.settle();
    expect(world.started).toEqual(['huge']);
    await world.finish('huge');
    await world.finish('small');
    await Promise.all(ends);
  });

  it('releases the units of a run, even if the pool has changed since', async () => {
    const capacity = { cpu: 4 };
    const world = watch(capacity);
    const ends = [world.add('wide', 1, { cpu: 4 })];
    await world.settle();
    capacity.cpu = 2;
    ends.push(world.add('next', 0, { cpu: 2 }), world.add('last', 0, { cpu: 2 }));
    await world.finish('wide');
    expect(world.started).toEqual(['wide', 'next']);
    await world.finish('next');
    await world.finish('last');
    await Promise.all(ends);
  });

  it('starts stages of equal priority in the order in which they were added, across pools', async () => {
    const world = watch({ cpu: 1, npu: 1 });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const ends = names.map((name, index) => world.add(name, 0, index % 2 === 0 ? { cpu: 1 } : { cpu: 1, npu: 1 }));
    await world.settle();
    for (const name of names) await world.finish(name);
    await Promise.all(ends);
    expect(world.started).toEqual(names);
  });

  it('looks at the pools as often per run, however many wait', async () => {
    const looksFor = async (count: number): Promise<number> => {
      let looks = 0;
      const capacity = {
        get cpu() {
          looks += 1;
          return 1;
        },
      };
      const queue = createStageQueue(capacity);
      await Promise.all(Array.from({ length: count }, (_, urgency) => queue.add(async () => undefined, { urgency, units: { cpu: 1 } })));
      return looks / count;
    };
    expect(await looksFor(5_000)).toBeLessThanOrEqual((await looksFor(50)) + 1);
  });

  it('recalls a run that can be recalled when another waits for its units, once, and only if that can start then', async () => {
    const world = watch({ cpu: 2, npu: 1 });
    const recalls: string[] = [];
    const ends = [
      world.add('npu', 1, { cpu: 0, npu: 1 }),
      world.add('lent', -9, { cpu: 1 }, () => recalls.push('lent')),
      world.add('also lent', -9, { cpu: 1 }, () => recalls.push('also lent')),
    ];
    await world.settle();
    ends.push(
      world.add('needs the npu', 1, { cpu: 1, npu: 1 }),
      world.add('a third loan', -9, { cpu: 1 }, () => undefined),
    );
    await world.settle();
    expect(recalls).toEqual([]);
    ends.push(world.add('next', 1));
    await world.settle();
    expect(recalls).toEqual(['lent']);
    await world.finish('lent');
    expect(world.started).toEqual(['npu', 'lent', 'also lent', 'next']);
    expect(recalls).toEqual(['lent']);
    await world.finish('npu');
    expect(recalls).toEqual(['lent', 'also lent']);
    for (const name of ['also lent', 'next', 'needs the npu', 'a third loan']) await world.finish(name);
    await Promise.all(ends);
    expect(world.most).toBe(3);
  });

  it('lends nothing while a run waits for several loans, which end one by one', async () => {
    const world = watch({ cpu: 4 });
    const recalls: string[] = [];
    const lend = (name: string) => world.add(name, -9, { cpu: 1 }, () => recalls.push(name));
    const ends = [world.add('own', 1), lend('a'), lend('b'), lend('c')];
    await world.settle();
    ends.push(world.add('wide', 1, { cpu: 3 }));
    await world.settle();
    expect(recalls.sort()).toEqual(['a', 'b', 'c']);
    await world.finish('a');
    ends.push(lend('d'));
    await world.finish('b');
    expect(world.started).toEqual(['own', 'a', 'b', 'c']);
    await world.finish('c');
    expect(world.started).toEqual(['own', 'a', 'b', 'c', 'wide']);
    await world.finish('wide');
    expect(world.started).toEqual(['own', 'a', 'b', 'c', 'wide', 'd']);
    for (const name of ['own', 'd']) await world.finish(name);
    await Promise.all(ends);
  });

  it('continues after a failure', async () => {
    const queue = createStageQueue({ cpu: 1 });
    const failing = queue.add(() => Promise.reject(new Error('no')), { urgency: 1, units: { cpu: 1 } });
    const next = queue.add(async () => 'next', { urgency: 0, units: { cpu: 1 } });

    await expect(failing).rejects.toThrow('no');
    await expect(next).resolves.toBe('next');
  });
});

describe('urgency', () => {
  it('is the length of the longest chain that waits for a stage', () => {
    const stages = [stage('a'), stage('b', 'a'), stage('c', 'a'), stage('d', 'b', 'c')];
    const durations: Readonly<Record<string, number>> = { a: 1, b: 10, c: 100, d: 1000 };

    expect(Object.fromEntries(computeUrgency(stages, id => durations[id] ?? 0))).toEqual({ a: 1101, b: 1010, c: 1100, d: 1000 });
  });
});

describe('priority', () => {
  it('is that of the most urgent stage that waits for it', () => {
    const stages = [stage('a'), stage('b', 'a'), { ...stage('c', 'b'), priority: 5 }, { ...stage('d', 'a'), priority: -5 }, stage('e')];

    expect(Object.fromEntries(computePriority(stages))).toEqual({ a: 5, b: 5, c: 5, d: -5, e: 0 });
  });
});

function watch(capacity: Readonly<Record<string, number>>) {
  const queue = createStageQueue(capacity);
  const started: string[] = [];
  const finishers = new Map<string, () => void>();
  let running = 0;
  const world = {
    started,
    most: 0,
    settle: () => new Promise<void>(resolve => setImmediate(resolve)),
    add: (name: string, urgency: number, units: Readonly<Record<string, number>> = { cpu: 1 }, recall?: () => void) =>
      queue.add(
        async () => {
          started.push(name);
          world.most = Math.max(world.most, ++running);
          await new Promise<void>(resolve => finishers.set(name, resolve));
          running--;
        },
        { urgency, units, ...(recall === undefined ? {} : { recall }) },
      ),
    async finish(name: string) {
      finishers.get(name)?.();
      await world.settle();
    },
  };
  return world;
}

function stage(id: string, ...dependencies: string[]): PlannedStage {
  const inputs = Object.fromEntries(
    dependencies.map(other => [other, { kind: 'artifact', stage: other as StageId, port: 'x', span } as const]),
  );
  return { id: id as StageId, inputs, priority: 0 } as unknown as PlannedStage;
}
