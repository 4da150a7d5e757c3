/** A thread that answers messages in their order. Its module gets them from `parentPort`, and sends one answer for each. */
import { Worker } from 'node:worker_threads';

export interface ThreadClient<Message, Answer> {
  /** The answer to what the thread does next, such as its start. @throws the error of `endedBy` if the thread ends before. */
  next(): Promise<Answer>;
  /** @param given arrays that the thread takes over. @throws as `next`. */
  ask(message: Message, given?: readonly ArrayBuffer[]): Promise<Answer>;
  isEnded(): boolean;
  /** Resolves when the thread has ended. */
  readonly exited: Promise<void>;
  terminate(): Promise<void>;
}

export interface ThreadOptions {
  /** `workerData` of the thread. */
  readonly data?: unknown;
  /** The error of messages that get no answer. */
  readonly endedBy: (reason: string) => Error;
}

/** Starts a thread with `module`. */
export function openThread<Message, Answer>(module: URL, { data, endedBy }: ThreadOptions): ThreadClient<Message, Answer> {
  const worker = new Worker(module, { workerData: data });
  const waiting: { resolve(answer: Answer): void; reject(error: Error): void }[] = [];
  let ended: Error | undefined;
  const end = (reason: string): void => {
    ended ??= endedBy(reason);
    for (const { reject } of waiting.splice(0)) reject(ended);
  };
  worker.on('message', (answer: Answer) => waiting.shift()?.resolve(answer));
  worker.on('error', error => end(error instanceof Error ? error.message : String(error)));
  const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()));
  void exited.then(() => end('it stopped'));
  const next = (): Promise<Answer> =>
    ended === undefined ? new Promise((resolve, reject) => waiting.push({ resolve, reject })) : Promise.reject(ended);
  return {
    next,
    ask(message, given = []) {
      const answered = next();
      if (ended === undefined) worker.postMessage(message, [...given]);
      return answered;
    },
    isEnded: () => ended !== undefined,
    exited,
    async terminate() {
      await worker.terminate();
    },
  };
}
