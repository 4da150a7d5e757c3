/** A thread that settles part of the rows while this thread settles the others. Rows do not depend on each other: the results are those of one thread. */
import { Worker } from 'node:worker_threads';
import { RuntimeError } from '../../../runtime/session/runtime-error.js';
import type { SettleAnswer, SettleOrder } from './settle-thread.js';

export interface SettleHelper {
  /** The arrays of changes and pull are given away. Calls must not overlap. @throws RuntimeError `settle-thread` if the thread ends. */
  settle(order: SettleOrder): Promise<SettleAnswer>;
  /** Ends the thread. */
  close(): Promise<void>;
}

export function openSettleHelper(): SettleHelper {
  const worker = new Worker(new URL('./settle-thread.js', import.meta.url));
  let waiting: { resolve(answer: SettleAnswer): void; reject(error: RuntimeError): void } | undefined;
  let ended: RuntimeError | undefined;
  const end = (why: string): void => {
    ended ??= new RuntimeError('settle-thread', `the thread that settles rounded weights ended: ${why}`, {
      help: 'free memory, and build again: layers that ended are kept',
    });
    waiting?.reject(ended);
    waiting = undefined;
  };
  worker.on('message', (answer: SettleAnswer) => {
    waiting?.resolve(answer);
    waiting = undefined;
  });
  worker.on('error', error => end(error instanceof Error ? error.message : String(error)));
  worker.on('exit', code => end(`exit code ${code}`));
  return {
    settle: order =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        waiting = { resolve, reject };
        worker.postMessage(order, [order.changes.buffer as ArrayBuffer, order.pull.buffer as ArrayBuffer]);
      }),
    async close() {
      await worker.terminate();
    },
  };
}
