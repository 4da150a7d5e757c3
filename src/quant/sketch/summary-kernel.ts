/** Tensor summaries in WebAssembly, four elements at a time, with the same bits as scalar-summary.ts. */
import { getDefined } from '../../base/invariant.js';
import { openWasm } from '../../base/wasm-instance.js';
import { eachChunk } from '../integers/kernel-chunks.js';
import { summaryWasm } from './generated/summary.js';
import { OFFSET_BITS } from './histogram.js';
import { BINS, type Lanes, type OpenBins } from './scalar-summary.js';

/** Addresses in the kernel's memory, in bytes. */
/** Four smallest and four largest order keys, smallest magnitudes and zero counts (int32); four sums and four sums of squares (double): see `Lanes`. */
const STATE = 0;
const SUMS = STATE + 64;
const BIN_BYTES = 8;
const TABLES = 1024;
/** One table per lane: neighboring elements often fall into one bin, and the second addition would wait for the first. */
const LANES = 4;
const TABLE_BYTES = BINS * BIN_BYTES + 8;
const DATA = 192 * 1024;
/** Elements between two reads of the tables. A bin is a 64-bit integer: count above, sum of offsets below; this many elements cannot overflow it. */
const TABLE_CAPACITY = 2 ** (32 - OFFSET_BITS);

interface Kernel {
  readonly addUp: (from: number, to: number) => void;
  readonly count: (from: number, to: number, perUnit: number) => void;
  readonly memory: ArrayBuffer;
}

let opened: Kernel | undefined;

function openKernel(): Kernel {
  if (opened !== undefined) return opened;
  const { functions, memory } = openWasm(summaryWasm);
  opened = { addUp: getDefined(functions.addUp, 'addUp'), count: getDefined(functions.count, 'count'), memory };
  return opened;
}

/** Adds `data`, a multiple of four elements. */
export function addByKernel(lanes: Lanes, data: Float32Array): void {
  if (data.length === 0) return;
  const { addUp, memory } = openKernel();
  const keys = new Int32Array(memory, STATE, 16);
  keys.fill(lanes.least, 0, 4).fill(lanes.greatest, 4, 8).fill(lanes.smallest, 8, 12).fill(0, 12, 16);
  const sums = new Float64Array(memory, SUMS, 8);
  sums.set(lanes.sums, 0);
  sums.set(lanes.squares, 4);
  eachChunk(data, memory, DATA, (from, to) => addUp(from, to));
  lanes.least = Math.min(...keys.subarray(0, 4));
  lanes.greatest = Math.max(...keys.subarray(4, 8));
  lanes.smallest = Math.min(...keys.subarray(8, 12));
  lanes.zeros += keys.subarray(12, 16).reduce((sum, zeros) => sum + zeros, 0);
  lanes.sums.set(sums.subarray(0, 4));
  lanes.squares.set(sums.subarray(4, 8));
}

/** Whether float32 products with the grid's factor are exact and large enough to keep their sign, so that the kernel can be used. */
export function canCountByKernel(exponent: number): boolean {
  return exponent <= OFFSET_BITS && OFFSET_BITS - exponent <= 127;
}

/** Counts `data`, a multiple of four elements, on a grid for which `canCountByKernel` is true. */
export function countByKernel({ counts, offsets }: OpenBins, exponent: number, data: Float32Array): void {
  if (data.length === 0) return;
  const { count, memory } = openKernel();
  const tables = new BigUint64Array(memory, TABLES, (LANES * TABLE_BYTES) / 8).fill(0n);
  const words = new Uint32Array(memory, TABLES, tables.length * 2);
  const perUnit = 2 ** (OFFSET_BITS - exponent);
  for (let start = 0; start < data.length; start += TABLE_CAPACITY) {
    eachChunk(data.subarray(start, start + TABLE_CAPACITY), memory, DATA, (from, to) => count(from, to, perUnit));
    for (let lane = 0; lane < LANES; lane++) {
      const base = (lane * TABLE_BYTES) / 4;
      for (let bin = 0; bin < BINS; bin++) {
        counts[bin] = (counts[bin] as number) + (words[base + 2 * bin + 1] as number);
        offsets[bin] = (offsets[bin] as number) + (words[base + 2 * bin] as number);
      }
    }
    tables.fill(0n);
  }
}
