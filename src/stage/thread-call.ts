/** One call in a thread of its own: work of a plugin beside its other work. Argument and result are plain data. */
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { isCodedError } from '../base/coded-error.js';
import type { Json } from '../base/json.js';
import { systemCode } from '../base/system-error.js';
import { StageError } from './stage-error.js';

/** What a call ended with, as plain data. */
export type ThreadAnswer =
  | { readonly kind: 'done'; readonly result: unknown }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly details: Json;
      readonly help: string | undefined;
      readonly error: ThrownError;
    }
  | { readonly kind: 'crashed'; readonly code: string | undefined; readonly error: ThrownError };

interface ThrownError {
  readonly message: string;
  readonly stack: string | undefined;
  /** Messages of the causes, outermost first. */
  readonly causes: readonly string[];
}

/**
 * Starts a thread with `module`, which calls `answerCall`. The answer may be awaited later: until then, a failure waits too.
 * @throws what the thread throws, as an error of the same code, and StageError `thread-ended` if it ends without an answer.
 */
export function callThread<Result>(module: URL, argument: unknown): Promise<Result> {
  const answer = new Promise<Result>((resolve, reject) => {
    const end = (why: string): void =>
      reject(
        new StageError('thread-ended', `a thread of the stage ended without a result: ${why}`, { help: 'free memory, and build again' }),
      );
    const thread = new Worker(module, { workerData: argument });
    thread.once('message', (given: ThreadAnswer) => {
      try {
        resolve(resultOf(given));
      } catch (error) {
        reject(error);
      }
    });
    thread.once('error', error => end(error instanceof Error ? error.message : String(error)));
    thread.once('exit', code => end(`exit code ${code}`));
  });
  answer.catch(() => undefined);
  return answer;
}

/** In the module of the thread: gives the result of `work` to the caller. */
export async function answerCall<Argument, Result>(work: (argument: Argument) => Promise<Result>): Promise<void> {
  const send = (answer: ThreadAnswer): void => parentPort?.postMessage(answer);
  // Also of a result that cannot be sent.
  await work(workerData as Argument)
    .then(result => send({ kind: 'done', result }))
    .catch((error: unknown) => send(describe(error)));
}

/** The answer to a call of a thread with several. */
export async function settleCall(work: () => Promise<unknown>): Promise<ThreadAnswer> {
  try {
    return { kind: 'done', result: await work() };
  } catch (error) {
    return describe(error);
  }
}

/** @throws what the work threw, as an error of the same code. */
export function resultOf<Result>(answer: ThreadAnswer): Result {
  if (answer.kind === 'done') return answer.result as Result;
  throw errorOf(answer);
}

function describe(thrown: unknown): ThreadAnswer {
  if (!(thrown instanceof Error))
    return { kind: 'crashed', code: undefined, error: { message: String(thrown), stack: undefined, causes: [] } };
  const error: ThrownError = { message: thrown.message, stack: thrown.stack, causes: causesOf(thrown) };
  if (!isCodedError(thrown)) return { kind: 'crashed', code: systemCode(thrown), error };
  return { kind: 'failed', code: thrown.code, details: thrown.details, help: thrown.help, error };
}

const MOST_CAUSES = 8;

function causesOf(error: Error): readonly string[] {
  const causes: string[] = [];
  for (let { cause } = error; cause !== undefined && causes.length < MOST_CAUSES; cause = cause instanceof Error ? cause.cause : undefined)
    causes.push(cause instanceof Error ? cause.message : String(cause));
  return causes;
}

function errorOf(answer: Exclude<ThreadAnswer, { readonly kind: 'done' }>): Error {
  const { message, stack, causes } = answer.error;
  const cause = causes.reduceRight<Error | undefined>((inner, text) => new Error(text, inner && { cause: inner }), undefined);
  if (answer.kind === 'failed')
    return new StageError(answer.code, message, {
      details: answer.details,
      cause,
      ...(answer.help === undefined ? {} : { help: answer.help }),
    });
  const error = new Error(message, cause && { cause });
  return Object.assign(error, { stack: stack ?? error.stack }, answer.code === undefined ? {} : { code: answer.code });
}
