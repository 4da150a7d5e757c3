/** Soft weights in the memory of a WebAssembly kernel that steps them. Gives the same bits as soft-weights.ts. */
import { getDefined } from '../../../base/invariant.js';
import { openWasm } from '../../../base/wasm-instance.js';
import { descendWasm } from './generated/descend.js';
import { constantsOf, SOFT_ARRAYS, type SoftStep, type SoftWeights } from './soft-weights.js';

/** Most weights of one kernel. */
export const MOST_WEIGHTS = 1 << 20;

export interface SoftKernel {
  /** The first `count` weights; all elements of them become 0. */
  take(count: number): SoftWeights;
  /** Moves the variables of the first `count` weights by one step. */
  descend(count: number, step: SoftStep): void;
}

/** Takes 40 MB where all weights are used. */
export function openSoftKernel(): SoftKernel {
  const { functions, memory } = openWasm(descendWasm);
  const step = getDefined(functions.step, 'step');
  return {
    take(count) {
      const arrays = SOFT_ARRAYS.map((name, index) => [name, new Float32Array(memory, 4 * MOST_WEIGHTS * index, count).fill(0)] as const);
      return Object.fromEntries(arrays) as Readonly<Record<(typeof SOFT_ARRAYS)[number], Float32Array>>;
    },
    descend(count, request) {
      const { strength, power, rate, squareLeft } = constantsOf(request);
      step(8 * Math.ceil(count / 2), strength, power, rate, squareLeft);
    },
  };
}
