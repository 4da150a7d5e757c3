/** Runs several sessions of a model in parallel, each in its own thread, because ONNX Runtime's Node binding runs one at a time per thread. */
import { basename } from 'node:path';
import { Worker } from 'node:worker_threads';
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
  const worker = new Worker(new URL('./session-thread.js', import.meta.url), { workerData: model });
  const waiting: { resolve(): void; reject(error: RuntimeError): void }[] = [];
  let ended: RuntimeError | undefined;
  const next = (): Promise<void> =>
    ended === undefined ? new Promise((resolve, reject) => waiting.push({ resolve, reject })) : Promise.reject(ended);
  const end = (reason: string): void => {
    ended ??= new RuntimeError('session-thread', `a thread for ${basename(model.path)} ended: ${reason}`, {
      help: 'set `sessions: 0` to skip parallel sessions',
    });
    for (const { reject } of waiting.splice(0)) reject(ended);
  };
  worker.on('message', (answer: ThreadAnswer) => {
    const first = waiting.shift();
    if (answer.kind === 'done') first?.resolve();
    else first?.reject(new RuntimeError(answer.code, answer.message, answer.help === undefined ? {} : { help: answer.help }));
  });
  worker.on('error', error => end(error instanceof Error ? error.message : String(error)));
  const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()));
  void exited.then(() => end('it stopped'));
  const ask = (message: ThreadMessage): Promise<void> => {
    const answered = next();
    if (ended === undefined) worker.postMessage(message);
    return answered;
  };
  return {
    started: next(),
    ask,
    async close() {
      if (ended === undefined) await ask({ kind: 'close' }).catch(() => worker.terminate());
      await exited;
    },
  };
}
