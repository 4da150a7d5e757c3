/** How is a runner talked to? One request at a time over its pipes; whatever it does instead of answering becomes an error that says so. */
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { after } from '../../base/after.js';
import { CodedError } from '../../base/coded-error.js';
import { createFrameReader, encodeFrame, type Frame } from './frames.js';
import { type Answers, type Request, readAnswer } from './messages.js';
import { RunnerError } from './runner-error.js';

/** A started program; what `context.start` gives. */
export interface RunnerProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly ended: Promise<{ readonly exitCode: number | undefined; readonly signal: string | undefined }>;
  stop(): void;
}

/** What a runner is doing, for messages. */
export type Phase = 'starting' | 'loading a model' | 'running a model' | 'closing';

export interface Answered<Type extends keyof Answers> {
  readonly answer: Answers[Type];
  readonly payload: Uint8Array;
}

export interface Connection {
  /**
   * Asks, and waits for the answer. Requests wait for each other. After a failure every request fails as the first did.
   * @throws RunnerError `runner-died`, `runner-timeout`, `runner-garbage`, `runner-protocol`, `runner-refused`, each with the end of the program's standard error.
   */
  ask<Type extends Request['type']>(
    request: Request & { readonly type: Type },
    payload: readonly Uint8Array[],
    limit: { readonly phase: Phase; readonly seconds: number },
  ): Promise<Answered<Type>>;
  /** Makes what the caller found wrong with an answer the connection's failure, and ends the program. @returns the error to throw. */
  fail(error: RunnerError): RunnerError;
  /** Ends the program: asked first, killed where it does not go. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
  readonly phase: Phase;
}

/** For the answer to `bye`, for going, and for going after it was stopped. */
const BYE_SECONDS = 5;

/** @param stderrTail what the program wrote last to its standard error. */
export function connect(program: RunnerProgram, stderrTail: () => string): Connection {
  const reader = createFrameReader();
  let failure: CodedError | undefined;
  let waiting: Waiting | undefined;
  let requests = 0;
  let queue: Promise<unknown> = Promise.resolve();
  let leaving = 'no' as 'no' | 'yes';

  const fail = (error: CodedError): CodedError => {
    if (failure !== undefined) return failure;
    failure = withTail(error, stderrTail());
    program.stop();
    waiting?.reject(failure);
    waiting = undefined;
    return failure;
  };
  const receive = (frame: Frame): void => {
    if (waiting === undefined) {
      fail(new RunnerError('runner-protocol', 'the runner sent a message that nobody had asked for'));
      return;
    }
    const { resolve } = waiting;
    waiting = undefined;
    resolve(frame);
  };

  program.stdout.on('data', (chunk: Uint8Array) => {
    if (failure !== undefined) return;
    try {
      for (const frame of reader.take(chunk)) receive(frame);
    } catch (error) {
      fail(asCoded(error));
    }
  });
  program.ended.then(
    ({ exitCode, signal }) => {
      if (leaving === 'yes' && waiting === undefined) return;
      const how = signal === undefined ? `ended with exit code ${exitCode}` : `was ended by ${signal}`;
      const when = waiting === undefined ? 'while nothing was asked of it' : `while ${waiting.phase}`;
      const part = reader.isBetweenFrames() ? '' : ', in the middle of an answer';
      fail(
        new RunnerError('runner-died', `the runner ${how} ${when}${part}`, {
          details: { exitCode: exitCode ?? null, signal: signal ?? null, phase: waiting?.phase ?? null },
        }),
      );
    },
    error => fail(asCoded(error)),
  );

  const exchange = async (
    request: Request,
    payload: readonly Uint8Array[],
    phase: Phase,
    seconds: number,
  ): Promise<Frame & { id: number }> => {
    if (failure !== undefined) throw failure;
    const id = requests++;
    const pieces = encodeFrame({ id, ...request }, payload);
    let stopTimer: (() => void) | undefined;
    try {
      const answered = new Promise<Frame>((resolve, reject) => {
        waiting = { resolve, reject, phase };
        stopTimer = after(seconds * 1000, () => fail(timedOut(phase, seconds)));
      });
      for (const piece of pieces) program.stdin.write(piece);
      return { ...(await answered), id };
    } finally {
      stopTimer?.();
    }
  };

  return {
    ask(request, payload, { phase, seconds }) {
      const asked = queue.then(async () => {
        const { header, payload: given, id } = await exchange(request, payload, phase, seconds);
        try {
          return { answer: readAnswer(header, id, request.type), payload: given };
        } catch (error) {
          throw fail(asCoded(error));
        }
      });
      queue = asked.catch(() => undefined);
      return asked;
    },
    fail: error => fail(error) as RunnerError,
    async close() {
      await queue;
      leaving = 'yes';
      if (failure === undefined) await exchange({ type: 'bye' }, [], 'closing', BYE_SECONDS).catch(() => undefined);
      program.stdin.end();
      await waitForEnd(program);
    },
  };
}

/** Waits, asks it to go, and waits no longer than that: what a program has started may outlive it, and is killed with the stage. */
async function waitForEnd(program: RunnerProgram): Promise<void> {
  const patience = new AbortController();
  const ended = program.ended.catch(() => undefined).then(() => 'ended' as const);
  const wait = () => delay(BYE_SECONDS * 1000, 'waiting' as const, { signal: patience.signal }).catch(() => 'ended' as const);
  if ((await Promise.race([ended, wait()])) === 'waiting') {
    program.stop();
    await Promise.race([ended, wait()]);
  }
  patience.abort();
  program.stdin.destroy();
  program.stdout.destroy();
}

function timedOut(phase: Phase, seconds: number): RunnerError {
  return new RunnerError('runner-timeout', `the runner gave no answer within ${seconds} s while ${phase}, and was killed`, {
    details: { phase, seconds },
    help: 'raise external.timeouts if the device needs longer (the first load of a model may compile it), or see in the log what it was doing',
  });
}

/** What the program said last stands in the message: it is the best hint that there is. */
function withTail(error: CodedError, tail: string): CodedError {
  const said = tail.trim();
  const message =
    said === '' ? `${error.message}; its standard error is empty` : `${error.message}; its standard error ends with:\n${said}`;
  const details = typeof error.details === 'object' && error.details !== null && !Array.isArray(error.details) ? error.details : {};
  return new RunnerError(error.code, message, {
    details: { ...details, stderr: said },
    cause: error.cause,
    ...(error.help === undefined ? {} : { help: error.help }),
  });
}

function asCoded(error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  return new RunnerError('runner-died', `the runner cannot be talked to: ${error instanceof Error ? error.message : String(error)}`, {
    cause: error,
  });
}
