/** The worker thread of `openSessionThreads`: one session of one model. It keeps feeds and runs them on request. */
import { parentPort, workerData } from 'node:worker_threads';
import { assertNever } from '../../base/assert-never.js';
import type { Tensor } from '../../tensor/tensor.js';
import { RuntimeError } from './runtime-error.js';
import { openSession, type Session, type SessionOptions } from './session.js';

/** `workerData` of the thread. */
export interface ThreadModel {
  readonly path: string;
  readonly options: SessionOptions;
}

/** Every message has one ThreadAnswer, and so has the start, once the model is open. `feeds` are kept under `id`. */
export type ThreadMessage =
  | { readonly kind: 'keep'; readonly id: number; readonly feeds: Readonly<Record<string, Tensor>> }
  | { readonly kind: 'run'; readonly id: number }
  | { readonly kind: 'close' };

export type ThreadAnswer =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly help: string | undefined };

async function serve(port: NonNullable<typeof parentPort>, { path, options }: ThreadModel): Promise<void> {
  const kept = new Map<number, Readonly<Record<string, Tensor>>>();
  const answer = async (work: () => Promise<unknown>): Promise<void> => {
    const given: ThreadAnswer = await work().then(() => ({ kind: 'done' }), describeFailure);
    port.postMessage(given);
  };
  let session: Session | undefined;
  await answer(async () => {
    session = await openSession(path, options);
  });
  port.on('message', (message: ThreadMessage) => {
    switch (message.kind) {
      case 'keep':
        kept.set(message.id, message.feeds);
        return void answer(async () => undefined);
      case 'run':
        return void answer(async () => session?.run(kept.get(message.id) ?? {}));
      case 'close':
        return void answer(async () => session?.close()).then(() => port.close());
      default:
        return assertNever(message);
    }
  });
}

function describeFailure(error: unknown): ThreadAnswer {
  return error instanceof RuntimeError
    ? { kind: 'failed', code: error.code, message: error.message, help: error.help }
    : { kind: 'failed', code: 'session-thread', message: error instanceof Error ? error.message : String(error), help: undefined };
}

if (parentPort !== null) void serve(parentPort, workerData as ThreadModel);
