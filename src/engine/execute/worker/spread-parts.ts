/**
 * Computes the parts of a stage in its worker, and in part processes while the engine lends slots.
 * Every process computes one part at a time. Which process computes a part does not change its result.
 */
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../base/json.js';
import type { Context, Part, PartJob } from '../../../stage/context.js';
import type { FromWorker, ToWorker } from './messages.js';
import type { PartProcess } from './open-part-process.js';
import type { PartOrder } from './part-messages.js';
import type { ComputePart } from './run-parts.js';

/** A slot that the engine lends or recalls. */
export type Loan = Extract<ToWorker, { readonly kind: 'slot-lent' | 'slot-recalled' }>;

export interface SpreadParts {
  readonly compute: ComputePart;
  receive(loan: Loan): void;
  /** Ends the part processes. @returns the sum of their peak memories in bytes. */
  end(): number;
}

export interface SpreadOptions {
  readonly openProcess: () => PartProcess;
  /** Part processes at once. */
  readonly most: number;
  readonly send: (message: FromWorker) => void;
  readonly context: Pick<Context, 'log'>;
}

interface WaitingPart {
  readonly order: Omit<PartOrder, 'number'>;
  computeHere(): Promise<readonly string[]>;
  settle(names: readonly string[]): void;
  fail(error: unknown): void;
}

/** A part process takes some tenths of a second to start: each must have this much to do. */
const WORTH_MS = 1_500;

export function createSpreadParts({ openProcess, most, send, context }: SpreadOptions): SpreadParts {
  const waiting: WaitingPart[] = [];
  /** Parts that failed in a part process. They fail here with their own error. */
  const here: WaitingPart[] = [];
  const processes = createProcesses(openProcess);
  /** Whether a lent slot is recalled, by its number. */
  const slots = new Map<number, boolean>();
  const time = createPartTime();
  const askFor = makeAskFor(send);
  let isBusy = false;
  let isLost = false;
  let isEnded = false;

  const runHere = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    for (let part = takeHere(); part !== undefined; part = takeHere()) {
      askForSlots();
      const noteEnd = time.begin(askForSlots);
      await part.computeHere().then(part.settle, part.fail);
      noteEnd();
    }
    isBusy = false;
    askForSlots();
  };

  const takeHere = (): WaitingPart | undefined => (isEnded ? undefined : (here.shift() ?? waiting.shift()));

  const runInSlot = async (slot: number): Promise<void> => {
    slots.set(slot, false);
    if (!isLost && waiting.length > 0) await computeIn(slot, processes.take());
    slots.delete(slot);
    send({ kind: 'slot-returned', slot });
    askForSlots();
  };

  const computeIn = async (slot: number, process: PartProcess): Promise<void> => {
    while (!isLost && slots.get(slot) === false) {
      const part = waiting.shift();
      if (part === undefined) break;
      const noteEnd = time.begin();
      const end = await process.compute(part.order);
      if (isEnded) return;
      if (end.kind === 'computed') {
        noteEnd();
        part.settle(end.names);
        continue;
      }
      here.push(part);
      if (end.kind === 'lost' && !isLost) context.log('info', `a part process ended (${end.why}); all parts are computed in the worker`);
      isLost ||= end.kind === 'lost';
      void runHere();
    }
    // Its memory goes back with the slot. Without a recall there are no parts left, and it ends with the stage.
    if (slots.get(slot) === true) process.kill();
    else processes.putBack(process);
  };

  /** For parts that wait: what the worker takes needs no slot. A slot that works keeps working while there are parts. */
  const askForSlots = (): void => {
    const worth = isLost ? 0 : Math.min(time.isFirst() ? 1 : most, Math.floor((waiting.length * time.ofPartMs()) / WORTH_MS));
    askFor(waiting.length === 0 ? 0 : Math.max(worth, slots.size));
  };

  const compute = <Input extends JsonObject>(part: Part<Input>, job: PartJob<Input>): Promise<readonly string[]> =>
    new Promise((settle, fail) => {
      waiting.push({ order: orderOf(part, job), computeHere: async () => part.run(job), settle, fail });
      void runHere();
      askForSlots();
    });

  return {
    compute,
    receive({ kind, slot }) {
      if (kind === 'slot-lent') void runInSlot(slot);
      else if (slots.has(slot)) slots.set(slot, true);
    },
    end() {
      isEnded = true;
      return processes.end();
    },
  };
}

/** Tells the engine the number of slots only if it is another than before. */
function makeAskFor(send: SpreadOptions['send']): (count: number) => void {
  let wanted = 0;
  return count => {
    if (count !== wanted) send({ kind: 'slots-wanted', count });
    wanted = count;
  };
}

function orderOf<Input extends JsonObject>({ name, module }: Part<Input>, { context: _, ...job }: PartJob<Input>): WaitingPart['order'] {
  return { ...job, name, module: fileURLToPath(module) };
}

interface PartTime {
  /** During the first part, its time so far. 0 before. */
  ofPartMs(): number;
  /** Until the first part has ended. It also opens what all parts use, so that its time says little of others. */
  isFirst(): boolean;
  /** A part begins. @param onLonger called while it is the first part, every few hundredths of a second. @returns notes its end. */
  begin(onLonger?: () => void): () => void;
}

/** How often the time of the first part is looked at. */
const LOOK_MS = 50;

function createPartTime(): PartTime {
  let partMs: number | undefined;
  let firstMs: number | undefined;
  return {
    isFirst: () => partMs === undefined,
    ofPartMs: () => partMs ?? (firstMs === undefined ? 0 : performance.now() - firstMs),
    begin(onLonger) {
      const startMs = performance.now();
      firstMs ??= startMs;
      const timer = partMs === undefined && onLonger !== undefined ? setInterval(onLonger, LOOK_MS) : undefined;
      return () => {
        clearInterval(timer);
        const tookMs = performance.now() - startMs;
        partMs = partMs === undefined ? tookMs : partMs / 2 + tookMs / 2;
      };
    },
  };
}

interface Processes {
  take(): PartProcess;
  /** For a further slot. */
  putBack(process: PartProcess): void;
  /** Kills them. @returns the sum of the peak memories of all in bytes. */
  end(): number;
}

function createProcesses(openProcess: () => PartProcess): Processes {
  const all: PartProcess[] = [];
  const idle: PartProcess[] = [];
  const open = (): PartProcess => {
    const process = openProcess();
    all.push(process);
    return process;
  };
  return {
    take: () => idle.pop() ?? open(),
    putBack: process => void idle.push(process),
    end() {
      for (const process of all) process.kill();
      return all.reduce((sum, { peakBytes }) => sum + peakBytes(), 0);
    },
  };
}
