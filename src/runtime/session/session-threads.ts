/** Runs several sessions of a model in parallel, each in its own thread, because ONNX Runtime's Node binding runs one at a time per thread. */
import { basename } from 'node:path';
import { openThread } from '../../base/thread-client.js';
import type { NamedTensors } from './model-inputs.js';
import { RuntimeError } from './runtime-error.js';
import type { SessionOptions } from './session.js';
import type { ThreadAnswer, ThreadMessage, ThreadModel } from './session-thread.js';

export interface SessionThreads {
  /**
   * Sends each thread its feeds, at most one entry per thread. The returned function runs all of them in parallel and resolves when the last has ended.
   * Outputs stay in the threads.
   * @throws RuntimeError `model-run`, `session-thread`, also from the returned function.
   */
  prepare(feeds: readonly NamedTensors[]): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Opens the model at `path` in `count` threads. @throws RuntimeError `model-load`, `session-thread`. */
export async function openSessionThreads(path: string, options: SessionOptions, count: number): Promise<SessionThreads> {
  const threads = Array.from({ length: count }, () => startThread({ path, options }));
  const close = async (): Promise<void> => void (await Promise.all(threads.map(thread => thread.close())));
  try {
    await Promise.all(threads.map(thread => thread.started));
  } catch (error) {
    await close();
    throw error;
  }
  let prepared = 0;
  return {
    async prepare(feeds) {
      const id = prepared++;
      const used = threads.slice(0, feeds.length);
      await Promise.all(used.map((thread, index) => thread.ask({ kind: 'keep', id, feeds: ownTensors(feeds[index] ?? {}) })));
      return async () => void (await Promise.all(used.map(thread => thread.ask({ kind: 'run', id }))));
    },
    close,
  };
}

/** Copies the tensors: sending a view sends all memory behind it. */
function ownTensors(feeds: NamedTensors): NamedTensors {
  return Object.fromEntries(
    Object.entries(feeds).map(([name, tensor]) => [name, { ...tensor, data: tensor.data.slice() } as typeof tensor]),
  );
}

interface Thread {
  /** Resolves when the model is open. */
  readonly started: Promise<void>;
  ask(message: ThreadMessage): Promise<void>;
  /** Ends the thread, also after a failure. */
  close(): Promise<void>;
}

function startThread(model: ThreadModel): Thread {
  const thread = openThread<ThreadMessage, ThreadAnswer>(new URL('./session-thread.js', import.meta.url), {
    data: model,
    endedBy: reason =>
      new RuntimeError('session-thread', `a thread for ${basename(model.path)} ended: ${reason}`, {
        help: 'set `sessions: 0` to skip parallel sessions',
      }),
  });
  const assertDone = (answer: ThreadAnswer): void => {
    if (answer.kind === 'failed')
      throw new RuntimeError(answer.code, answer.message, answer.help === undefined ? {} : { help: answer.help });
  };
  const ask = (message: ThreadMessage): Promise<void> => thread.ask(message).then(assertDone);
  return {
    started: thread.next().then(assertDone),
    ask,
    async close() {
      if (!thread.isEnded()) await ask({ kind: 'close' }).catch(() => thread.terminate());
      await thread.exited;
    },
  };
}
