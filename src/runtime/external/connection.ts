/** The connection to an external runner: one request at a time over its pipes. Everything but an answer becomes an error. */
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { after } from '../../base/after.js';
import type { CodedError } from '../../base/coded-error.js';
import { createFrameReader, encodeFrame, type Frame, type FrameReader } from './frames.js';
import { type Answers, type Request, readAnswer } from './messages.js';
import { asCoded, RunnerError, withStandardError } from './runner-error.js';

/** A started program, as `context.start` returns it. */
export interface RunnerProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly ended: Promise<{ readonly exitCode: number | undefined; readonly signal: string | undefined }>;
  stop(): void;
}

/** The activity of a runner, for messages. */
export type Phase = 'starting' | 'loading a model' | 'running a model' | 'closing';

export interface Answered<Type extends keyof Answers> {
  readonly answer: Answers[Type];
  readonly payload: Uint8Array;
}

export interface Limit {
  readonly phase: Phase;
  readonly seconds: number;
}

export interface Connection {
  /**
   * Sends a request and waits for its answer. Requests are queued. After a failure, every request fails with the same error.
   * @throws RunnerError `runner-died`, `runner-timeout`, `runner-garbage`, `runner-protocol`, `runner-refused`, each with the end of the program's standard error.
   */
  ask<Type extends Request['type']>(
    request: Request & { readonly type: Type },
    payload: readonly Uint8Array[],
    limit: Limit,
  ): Promise<Answered<Type>>;
  /** Fails the connection because of an invalid answer, and ends the program. @returns the error to throw. */
  fail(error: RunnerError): CodedError;
  /** Ends the program: sends `bye`, then kills it if it does not exit. */
  close(): Promise<void>;
}

interface WaitingRequest {
  readonly resolve: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
  readonly phase: Phase;
}

interface State {
  readonly program: RunnerProgram;
  readonly reader: FrameReader;
  readonly stderrTail: () => string;
  /** The first failure. Nothing is sent or read after it. */
  failure: CodedError | undefined;
  /** The request that has no answer yet. */
  waiting: WaitingRequest | undefined;
  /** Number of requests sent, which gives their ids. */
  requests: number;
  /** Settles when the last queued request is done. */
  queue: Promise<unknown>;
  /** Whether the program may exit without a request. */
  exit: 'unexpected' | 'expected';
}

/** Time limit for the answer to `bye`, for the exit after it, and for the exit after the program was stopped. */
const BYE_SECONDS = 5;

/** @param stderrTail returns the last output on the program's standard error. */
export function connect(program: RunnerProgram, stderrTail: () => string): Connection {
  const state: State = {
    program,
    stderrTail,
    reader: createFrameReader(),
    failure: undefined,
    waiting: undefined,
    requests: 0,
    queue: Promise.resolve(),
    exit: 'unexpected',
  };
  program.stdout.on('data', (chunk: Uint8Array) => receiveBytes(state, chunk));
  program.ended.then(
    exit => receiveExit(state, exit),
    error => fail(state, asCoded(error)),
  );
  return {
    ask: <Type extends Request['type']>(request: Request & { readonly type: Type }, payload: readonly Uint8Array[], limit: Limit) =>
      ask<Type>(state, request, payload, limit),
    fail: error => fail(state, error),
    close: () => close(state),
  };
}

/** Ends the program and rejects the waiting request. @returns the first failure of the connection. */
function fail(state: State, error: CodedError): CodedError {
  if (state.failure !== undefined) return state.failure;
  const failure = withStandardError(error, state.stderrTail());
  state.failure = failure;
  state.program.stop();
  state.waiting?.reject(failure);
  state.waiting = undefined;
  return failure;
}

function receiveBytes(state: State, chunk: Uint8Array): void {
  if (state.failure !== undefined) return;
  try {
    for (const frame of state.reader.take(chunk)) receiveFrame(state, frame);
  } catch (error) {
    fail(state, asCoded(error));
  }
}

function receiveFrame(state: State, frame: Frame): void {
  const { waiting } = state;
  if (waiting === undefined) {
    fail(state, new RunnerError('runner-protocol', 'the runner sent a message without a request'));
    return;
  }
  state.waiting = undefined;
  waiting.resolve(frame);
}

function receiveExit(state: State, { exitCode, signal }: Awaited<RunnerProgram['ended']>): void {
  const { waiting } = state;
  if (state.exit === 'expected' && waiting === undefined) return;
  const how = signal === undefined ? `ended with exit code ${exitCode}` : `was ended by ${signal}`;
  const when = waiting === undefined ? 'without a pending request' : `while ${waiting.phase}`;
  const part = state.reader.isBetweenFrames() ? '' : ', in the middle of an answer';
  fail(
    state,
    new RunnerError('runner-died', `the runner ${how} ${when}${part}`, {
      details: { exitCode: exitCode ?? null, signal: signal ?? null, phase: waiting?.phase ?? null },
    }),
  );
}

function ask<Type extends Request['type']>(
  state: State,
  request: Request & { readonly type: Type },
  payload: readonly Uint8Array[],
  limit: Limit,
): Promise<Answered<Type>> {
  const asked = state.queue.then(async () => {
    const { header, payload: given, id } = await exchange(state, request, payload, limit);
    try {
      return { answer: readAnswer(header, id, request.type), payload: given };
    } catch (error) {
      throw fail(state, asCoded(error));
    }
  });
  state.queue = asked.catch(() => undefined);
  return asked;
}

/** Sends one request and waits for the next frame. */
async function exchange(
  state: State,
  request: Request,
  payload: readonly Uint8Array[],
  { phase, seconds }: Limit,
): Promise<Frame & { readonly id: number }> {
  if (state.failure !== undefined) throw state.failure;
  const id = state.requests++;
  const pieces = encodeFrame({ id, ...request }, payload);
  let stopTimer: (() => void) | undefined;
  try {
    const answered = new Promise<Frame>((resolve, reject) => {
      state.waiting = { resolve, reject, phase };
      stopTimer = after(seconds * 1000, () => fail(state, timedOut(phase, seconds)));
    });
    for (const piece of pieces) state.program.stdin.write(piece);
    return { ...(await answered), id };
  } finally {
    stopTimer?.();
  }
}

async function close(state: State): Promise<void> {
  await state.queue;
  state.exit = 'expected';
  if (state.failure === undefined) {
    await exchange(state, { type: 'bye' }, [], { phase: 'closing', seconds: BYE_SECONDS }).catch(() => undefined);
  }
  state.program.stdin.end();
  await waitForEnd(state.program);
}

/** Waits for the exit, stops the program, and waits once more. Child processes that outlive it are killed with the stage. */
async function waitForEnd(program: RunnerProgram): Promise<void> {
  const waiting = new AbortController();
  const ended = program.ended.catch(() => undefined).then(() => 'ended' as const);
  const wait = () => delay(BYE_SECONDS * 1000, 'waiting' as const, { signal: waiting.signal }).catch(() => 'ended' as const);
  if ((await Promise.race([ended, wait()])) === 'waiting') {
    program.stop();
    await Promise.race([ended, wait()]);
  }
  waiting.abort();
  program.stdin.destroy();
  program.stdout.destroy();
}

function timedOut(phase: Phase, seconds: number): RunnerError {
  return new RunnerError('runner-timeout', `the runner did not answer within ${seconds} s while ${phase}, and was killed`, {
    details: { phase, seconds },
    help: 'raise external.timeouts if the device needs longer (the first load of a model may compile it); the log shows what the runner was doing',
  });
}
