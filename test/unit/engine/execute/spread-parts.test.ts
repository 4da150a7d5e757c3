/** When a worker asks for slots for its parts, and what it does with a slot that is lent and recalled, by a manual clock. */
import { jest } from '@jest/globals';
import type { FromWorker } from '../../../../src/engine/execute/worker/messages.js';
import type { PartEnd, PartProcess } from '../../../../src/engine/execute/worker/open-part-process.js';
import { createSpreadParts, type SpreadParts } from '../../../../src/engine/execute/worker/spread-parts.js';
import type { Part } from '../../../../src/stage/context.js';

/** More than any test lends. */
const MOST = 4;

/** A part that is computed: in the worker, or in a part process by its number. It ends when the test says so. */
interface Running {
  readonly part: string;
  readonly where: 'worker' | number;
  end(end: PartEnd | Error): void;
}

let spread: SpreadParts;
let running: Running[];
let sent: FromWorker[];
let logged: string[];
let killed: number[];
let opened: number;

beforeEach(() => {
  jest.useFakeTimers();
  running = [];
  sent = [];
  logged = [];
  killed = [];
  opened = 0;
  const context = { log: (_: string, message: string) => void logged.push(message) };
  spread = createSpreadParts({ openProcess, most: MOST, send: message => void sent.push(message), context });
});
afterEach(() => jest.useRealTimers());

function openProcess(): PartProcess {
  const number = opened++;
  const compute: PartProcess['compute'] = ({ folder }) =>
    new Promise(resolve => {
      const end = (given: PartEnd | Error): void => resolve(given instanceof Error ? { kind: 'failed' } : given);
      running.push({ part: folder, where: number, end });
    });
  return { compute, peakBytes: () => 100 + number, kill: () => void killed.push(number) };
}

const PART: Part<Record<string, never>> = {
  name: 'part',
  version: 1,
  module: import.meta.url,
  runsModels: 'never',
  run: ({ folder }) =>
    new Promise((resolve, reject) => {
      const end = (given: PartEnd | Error): void =>
        given instanceof Error ? reject(given) : resolve(given.kind === 'computed' ? given.names : []);
      running.push({ part: folder, where: 'worker', end });
    }),
};

/** Asks for as many parts: "0", "1", … @returns their results. */
function ask(count: number): readonly Promise<readonly string[]>[] {
  const context = { signal: new AbortController().signal, log: () => undefined };
  return Array.from({ length: count }, (_, index) =>
    spread.compute(PART, { manifest: {}, blobs: {}, unkeyed: {}, folder: String(index), context }),
  );
}

const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

/** The part that runs there ends: with the file of its name, unless told otherwise. */
async function end(where: Running['where'], how?: PartEnd | Error): Promise<void> {
  const [found] = running.splice(
    running.findIndex(one => one.where === where),
    1,
  );
  if (found === undefined) throw new Error(`nothing runs in ${where}`);
  found.end(how ?? { kind: 'computed', names: [found.part] });
  await pass(0);
}

async function lend(slot: number): Promise<void> {
  spread.receive({ kind: 'slot-lent', slot });
  await pass(0);
}

const asked = (): readonly number[] => sent.flatMap(message => (message.kind === 'slots-wanted' ? [message.count] : []));
const returned = (): readonly number[] => sent.flatMap(message => (message.kind === 'slot-returned' ? [message.slot] : []));
const places = (): readonly string[] => running.map(({ part, where }) => `${part} in ${where}`);

describe('a worker with parts', () => {
  it('asks for one slot during the first part, as soon as the parts that wait are worth it', async () => {
    ask(31);
    // 30 wait. After 50 ms they are worth 1500 ms: one start of a process.
    await pass(49);
    expect(asked()).toEqual([]);
    await pass(1);
    expect(asked()).toEqual([1]);
  });

  it('asks for no more during the first part, as its time says little of the others', async () => {
    ask(31);
    await pass(10_000);
    expect(asked()).toEqual([1]);
    expect(jest.getTimerCount()).toBe(1);
    await end('worker');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('asks for more after the first part: as many as are worth their start', async () => {
    ask(31);
    await pass(100);
    await end('worker');
    // 29 wait, of 100 ms each: 2900 ms are worth one slot.
    expect(asked()).toEqual([1]);
    await pass(200);
    await end('worker');
    // The last part counts for half, which makes 150 ms: 28 of them, 4200 ms, are worth two.
    expect(asked()).toEqual([1, 2]);
  });

  it('asks for at most the allowed number', async () => {
    ask(31);
    await pass(10_000);
    await end('worker');
    expect(asked()).toEqual([1, MOST]);
  });

  it('asks for none while parts are cheap', async () => {
    ask(31);
    for (let part = 0; part < 31; part++) {
      await pass(45);
      await end('worker');
    }
    expect(asked()).toEqual([]);
    expect(opened).toBe(0);
  });

  it('asks for none for parts that come one by one, however long they take', async () => {
    for (let part = 0; part < 3; part++) {
      ask(1);
      await pass(100_000);
      await end('worker');
    }
    expect(asked()).toEqual([]);
  });

  it('asks no longer once the worker itself takes the last part', async () => {
    ask(3);
    await pass(2_000);
    expect(asked()).toEqual([1]);
    await end('worker');
    expect(asked()).toEqual([1]);
    await end('worker');
    expect(asked()).toEqual([1, 0]);
  });

  it('computes in the worker and in each slot, and keeps a working slot while parts wait', async () => {
    const results = ask(6);
    await pass(600);
    await lend(7);
    await lend(8);
    await end('worker');
    expect(places()).toEqual(['1 in 0', '2 in 1', '3 in worker']);
    // Two parts of 600 ms wait, which are worth no slot, but the two that work go on.
    expect(asked()).toEqual([1, 2]);

    await end(0);
    await end(1);
    expect(places()).toEqual(['3 in worker', '4 in 0', '5 in 1']);
    await end('worker');
    expect(asked()).toEqual([1, 2, 0]);
    expect(returned()).toEqual([]);
    await end(0);
    await end(1);
    expect(returned()).toEqual([7, 8]);
    expect(asked()).toEqual([1, 2, 0]);
    expect(await Promise.all(results)).toEqual([['0'], ['1'], ['2'], ['3'], ['4'], ['5']]);
  });

  it('returns a slot that is lent when no part waits, without a process', async () => {
    ask(1);
    await lend(7);
    expect(returned()).toEqual([7]);
    expect(opened).toBe(0);
  });

  it('uses the process of a returned slot again', async () => {
    ask(2);
    await lend(7);
    await end(0);
    expect(returned()).toEqual([7]);
    ask(1);
    await lend(8);
    expect(places()).toEqual(['0 in worker', '0 in 0']);
    expect(killed).toEqual([]);
  });

  it('ends the part of a recalled slot, then returns the slot and kills the process, whose memory goes with it', async () => {
    const results = ask(4);
    await lend(7);
    spread.receive({ kind: 'slot-recalled', slot: 7 });
    expect(returned()).toEqual([]);
    await end(0);
    expect(returned()).toEqual([7]);
    expect(killed).toEqual([0]);
    expect(places()).toEqual(['0 in worker']);
    expect(await results[1]).toEqual(['1']);

    await lend(8);
    expect(places()).toEqual(['0 in worker', '2 in 1']);
  });

  it('ignores the recall of a slot that it has returned', async () => {
    ask(2);
    await lend(7);
    await end(0);
    spread.receive({ kind: 'slot-recalled', slot: 7 });
    ask(1);
    expect(asked()).toEqual([]);
    await lend(7);
    await end(0);
    expect(killed).toEqual([]);
    expect(returned()).toEqual([7, 7]);
  });

  it('computes the part of a lost process itself, and asks for no slot from then on', async () => {
    const results = ask(6);
    await pass(10_000);
    await lend(7);
    await end('worker');
    await lend(8);
    await end(0, { kind: 'lost', why: 'SIGKILL' });
    expect(logged).toEqual(['a part process ended (SIGKILL); all parts are computed in the worker']);
    expect(returned()).toEqual([7]);

    // The other slot is returned too, and the second loss is no news.
    await end(1, { kind: 'lost', why: 'SIGKILL' });
    expect(returned()).toEqual([7, 8]);
    expect(asked().at(-1)).toBe(0);
    await lend(9);
    expect(returned()).toEqual([7, 8, 9]);
    for (let left = 0; left < 5; left++) await end('worker');
    expect(await Promise.all(results)).toEqual([['0'], ['1'], ['2'], ['3'], ['4'], ['5']]);
    expect(opened).toBe(2);
    expect(asked().at(-1)).toBe(0);
    expect(logged).toHaveLength(1);
  });

  it('computes a part that fails in a slot itself, before others, so that it fails with its own error; the slot goes on', async () => {
    const results = ask(4);
    await lend(7);
    await end(0, new Error('no'));
    expect(places()).toEqual(['0 in worker', '2 in 0']);
    await end('worker');
    expect(places()).toEqual(['2 in 0', '1 in worker']);
    const failed = expect(results[1]).rejects.toThrow('no');
    await end('worker', new Error('no'));
    await failed;
    await end(0);
    await end('worker');
    expect(await Promise.all([results[0], results[2], results[3]])).toEqual([['0'], ['2'], ['3']]);
    expect(logged).toEqual([]);
  });

  it('computes it at once if it has nothing to do, and not in a slot again', async () => {
    ask(2);
    await lend(7);
    await end('worker');
    expect(places()).toEqual(['1 in 0']);
    await end(0, new Error('no'));
    expect(places()).toEqual(['1 in worker']);
    expect(returned()).toEqual([7]);
  });

  it('ends its processes with the stage and adds their memories', async () => {
    ask(5);
    await lend(7);
    await lend(8);
    expect(spread.end()).toBe(100 + 101);
    expect(killed).toEqual([0, 1]);
    await end('worker');
    await end(0, { kind: 'lost', why: 'SIGKILL' });
    expect(places()).toEqual(['2 in 1']);
    expect(logged).toEqual([]);
  });
});
