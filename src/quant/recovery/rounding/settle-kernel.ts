/** Settles choices in the memory of a WebAssembly kernel. Gives the same bits as settle-choices.ts. */
import { getDefined } from '../../../base/invariant.js';
import { openWasm } from '../../../base/wasm-instance.js';
import { settleWasm } from './generated/settle.js';
import { type Choices, MOST_PARTNERS, type SettledInputs } from './settle-choices.js';

/** Most inputs of one kernel. */
export const MOST_SETTLED = 576;

export interface SettleKernel {
  /** The inputs of all choices until the next call. */
  load(inputs: SettledInputs): void;
  /** What `settlePlainly` does. */
  settle(choices: Choices): void;
}

const PARTNERS = 4 * MOST_SETTLED ** 2;
const PARTNER_PRODUCTS = PARTNERS + 4 * MOST_SETTLED * MOST_PARTNERS;
const CHANGES = PARTNER_PRODUCTS + 4 * MOST_SETTLED * MOST_PARTNERS;

/** Takes 1.5 MB. */
export function openSettleKernel(): SettleKernel {
  const { functions, memory } = openWasm(settleWasm);
  const run = getDefined(functions.settle, 'settle');
  const arrays = [0, 1, 2].map(index => new Float64Array(memory, CHANGES + 8 * MOST_SETTLED * index, MOST_SETTLED));
  const [changes, pull, squares] = arrays as [Float64Array, Float64Array, Float64Array];
  let loaded: Pick<SettledInputs, 'size' | 'damping'> & { readonly each: number; readonly stored: number };
  return {
    load({ size, products, damping, partners: { each, indices } }) {
      // The kernel takes two at a time.
      const stored = size + (size % 2);
      const rows = new Float32Array(memory, 0, stored * stored);
      if (stored === size) rows.set(products);
      else for (let i = 0; i < size; i++) rows.set(products.subarray(i * size, (i + 1) * size), i * stored);
      new Int32Array(memory, PARTNERS, indices.length).set(indices);
      const own = new Float32Array(memory, PARTNER_PRODUCTS, indices.length);
      for (let k = 0; k < indices.length; k++) own[k] = products[Math.floor(k / each) * size + (indices[k] as number)] as number;
      for (let i = 0; i < size; i++) squares[i] = (products[i * size + i] as number) + damping;
      loaded = { size, damping, each, stored };
    },
    settle(choices) {
      const { size, damping, each, stored } = loaded;
      changes.set(choices.changes);
      pull.set(choices.pull);
      run(stored, size, each, damping, choices.smallestGain, choices.passes);
      choices.changes.set(changes.subarray(0, size));
      choices.pull.set(pull.subarray(0, size));
    },
  };
}
