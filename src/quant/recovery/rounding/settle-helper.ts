/** A thread that settles part of the rows while this thread settles the others. Rows do not depend on each other: the results are those of one thread. */
import { openThread } from '../../../base/thread-client.js';
import { RuntimeError } from '../../../runtime/session/runtime-error.js';
import type { SettleAnswer, SettleOrder } from './settle-thread.js';

export interface SettleHelper {
  /** The arrays of changes and pull are given away. @throws RuntimeError `settle-thread` if the thread ends. */
  settle(order: SettleOrder): Promise<SettleAnswer>;
  /** Ends the thread. */
  close(): Promise<void>;
}

export function openSettleHelper(): SettleHelper {
  const thread = openThread<SettleOrder, SettleAnswer>(new URL('./settle-thread.js', import.meta.url), {
    endedBy: reason =>
      new RuntimeError('settle-thread', `the thread that settles rounded weights ended: ${reason}`, {
        help: 'free memory, and build again: layers that ended are kept',
      }),
  });
  return {
    settle: order => thread.ask(order, [order.changes.buffer as ArrayBuffer, order.pull.buffer as ArrayBuffer]),
    close: thread.terminate,
  };
}
