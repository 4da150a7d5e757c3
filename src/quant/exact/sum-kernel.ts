/** Sums of 8-bit weights in WebAssembly. Gives the same integers as the plain sums of weight-channels.ts. */
import { getDefined } from '../../base/invariant.js';
import { openWasm } from '../../base/wasm-instance.js';
import { sumWeightsWasm } from './generated/sum-weights.js';

/** Addresses in the kernel's memory, and its capacity. */
const [SUMS, DATA, CAPACITY] = [0, 64 * 1024, 64 * 1024];

type Sum = (from: number, to: number, zeroPoint: number) => void;

interface Kernel {
  readonly signed: Sum;
  readonly unsigned: Sum;
  readonly memory: ArrayBuffer;
}

let opened: Kernel | undefined;
/** The function whose elements are in the kernel's memory. */
let owner: SumRun | undefined;

function openKernel(): Kernel {
  if (opened !== undefined) return opened;
  const { functions, memory } = openWasm(sumWeightsWasm);
  const get = (name: string): Sum => getDefined(functions[name], name);
  opened = { signed: get('signed'), unsigned: get('unsigned'), memory };
  return opened;
}

/** The sum of elements [start, end) after subtracting the zero point, and the sum of their magnitudes. At most `CAPACITY` elements. */
export type SumRun = (start: number, end: number, zeroPoint: number) => readonly [sum: number, magnitudes: number];

/** Sums runs of `values` that are asked for in memory order, each at most 64 Ki elements. */
export function openSums(values: Int8Array | Uint8Array): SumRun {
  const { signed, unsigned, memory } = openKernel();
  const add = values instanceof Int8Array ? signed : unsigned;
  const loaded = values instanceof Int8Array ? new Int8Array(memory, DATA, CAPACITY) : new Uint8Array(memory, DATA, CAPACITY);
  const sums = new Int32Array(memory, SUMS, 2);
  let [first, behind] = [0, 0];
  const sum: SumRun = (start, end, zeroPoint) => {
    if (owner !== sum || start < first || end > behind) {
      owner = sum;
      [first, behind] = [start, Math.min(start + CAPACITY, values.length)];
      loaded.set(values.subarray(first, behind));
    }
    add(DATA + start - first, DATA + end - first, zeroPoint);
    return [sums[0] as number, sums[1] as number];
  };
  return sum;
}
