/** The thread of `openSettleHelper`: settles the rows that it gets, one request after the other. */
import { parentPort } from 'node:worker_threads';
import type { SettledInputs } from './settle-choices.js';
import { openSettleKernel } from './settle-kernel.js';

/** Rows one after the other, each with all inputs of the stretch. */
export interface SettleOrder {
  readonly inputs: SettledInputs;
  readonly changes: Float64Array;
  readonly pull: Float64Array;
  /** One per row. */
  readonly smallestGains: Float64Array;
  readonly passes: number;
}

/** The arrays of the order, settled. */
export type SettleAnswer = Pick<SettleOrder, 'changes' | 'pull'>;

function settle({ inputs, changes, pull, smallestGains, passes }: SettleOrder): SettleAnswer {
  kernel.load(inputs);
  for (const [row, smallestGain] of smallestGains.entries()) {
    const [start, end] = [row * inputs.size, (row + 1) * inputs.size];
    kernel.settle({ changes: changes.subarray(start, end), pull: pull.subarray(start, end), smallestGain, passes });
  }
  return { changes, pull };
}

const kernel = openSettleKernel();
parentPort?.on('message', (order: SettleOrder) => {
  const { changes, pull } = settle(order);
  parentPort?.postMessage({ changes, pull } satisfies SettleAnswer, [changes.buffer as ArrayBuffer, pull.buffer as ArrayBuffer]);
});
