/** Work in processes of their own, one at a time, that end after each answer: their memory goes with them, and leaving ends them. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Json } from '../../base/json.js';
import { RequestError } from '../http/read-body.js';
import type { ProcessAnswer } from './answer-order.js';

export interface ProcessQueue<Order, Result> {
  /**
   * @param left aborted when nobody waits for the answer any more. @returns 'left' if it was aborted first.
   * @throws RequestError with the code of the process, `ui-too-large`, `ui-too-many`; an Error for a defect of the process.
   */
  read(order: Order, left: AbortSignal): Promise<Result | 'left'>;
  /** Ends the process. Open and later requests answer 'left'. */
  close(): void;
}

export interface ProcessWords {
  /** What is computed: "the value". */
  readonly what: string;
  /** In the plural: "values". */
  readonly many: string;
}

/** Work that takes longer is too large for the page. */
export interface ProcessLimit {
  readonly longestMs: number;
  /** What gives the answer instead. */
  readonly help: string | undefined;
}

const SHORT: ProcessLimit = { longestMs: 60_000, help: undefined };

/** With the one that is computed. A page asks for one at a time, and leaves it when its user goes on. */
const MOST_OPEN = 8;

/** The end of what a process wrote before it died says why. */
const MOST_SAID = 2_000;

/** One process at a time: a model may need gigabytes. @param module absolute path of a module that calls `answerOrder`. */
export function openProcessQueue<Order extends object, Result>(
  module: string,
  words: ProcessWords,
  limit: ProcessLimit = SHORT,
): ProcessQueue<Order, Result> {
  const closed = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  let open = 0;
  return {
    async read(order, left) {
      if (open >= MOST_OPEN)
        throw new RequestError(503, 'ui-too-many', `${open} ${words.many} wait to be computed`, 'wait for them, or close other pages');
      open++;
      const end = AbortSignal.any([left, closed.signal]);
      const work = last.then(() => (end.aborted ? 'left' : runProcess<Result>(module, order, end, { ...words, ...limit })));
      last = work.catch(() => undefined);
      return work.finally(() => open--);
    },
    close: () => closed.abort(),
  };
}

function runProcess<Result>(
  module: string,
  order: object,
  end: AbortSignal,
  { what, longestMs, help }: ProcessWords & ProcessLimit,
): Promise<Result | 'left'> {
  return new Promise((resolve, reject) => {
    const child = fork(module, [], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    const said = endOf(child);
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new RequestError(413, 'ui-too-large', `${what} takes too long to compute`, help));
    }, longestMs);
    const leave = (): void => void child.kill('SIGKILL');
    end.addEventListener('abort', leave);
    child.on('message', (answer: ProcessAnswer<Result>) => {
      if (answer.kind === 'done') resolve(answer.result);
      else if (answer.kind === 'refused') reject(new RequestError(422, answer.code, answer.message, answer.help));
      else reject(Object.assign(new Error(`${what} cannot be computed: ${answer.message}`), { stack: answer.stack }));
    });
    child.on('error', reject);
    // Unlike "exit", "close" comes after the last message.
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      end.removeEventListener('abort', leave);
      if (end.aborted) resolve('left');
      else reject(new Error(`the process that computes ${what} ended (${signal ?? `exit code ${code}`})${said()}`));
    });
    child.send(order as Json & object, error => {
      if (error !== null && !end.aborted) reject(error);
    });
  });
}

/** Collects the end of what a process writes about its defects, as V8 does where memory is exhausted. */
function endOf({ stderr }: ChildProcess): () => string {
  let text = '';
  stderr?.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(-MOST_SAID);
  });
  return () => (text.trim() === '' ? '' : `: ${text.trim()}`);
}
