/** Counts elements between bin edges in WebAssembly, with the same counts as the scalar code in ort-histogram.ts. */
import { getDefined } from '../../base/invariant.js';
import { openWasm } from '../../base/wasm-instance.js';
import { eachChunk } from '../integers/kernel-chunks.js';
import { countEdgesWasm } from './generated/count-edges.js';
import type { OrtBinning } from './ort-method.js';

/** Histograms with more bins use the scalar code. */
export const KERNEL_MAX_BINS = 4096;

/** Addresses in the kernel's memory: the edges, one table per lane with a slot before its first bin, the elements. */
const EDGES = 0;
const TABLE_BYTES = 4 * (KERNEL_MAX_BINS + 2);
const TABLES = 4 * (KERNEL_MAX_BINS + 4);
const DATA = 128 * 1024;

interface Kernel {
  readonly count: (from: number, to: number, first: number, span: number, bins: number, lastBin: number, mask: number) => void;
  readonly memory: ArrayBuffer;
}

let opened: Kernel | undefined;

function openKernel(): Kernel {
  if (opened !== undefined) return opened;
  const { functions, memory } = openWasm(countEdgesWasm);
  opened = { count: getDefined(functions.count, 'count'), memory };
  return opened;
}

/** Adds the counts of `data` to `counts`. `data` has a multiple of four elements, all between the outer edges. */
export function countEdgesByKernel(
  counts: Float64Array,
  data: Float32Array,
  { of, bins, first, last }: OrtBinning,
  edges: Float32Array,
): void {
  if (data.length === 0) return;
  const { count, memory } = openKernel();
  new Float32Array(memory, EDGES, KERNEL_MAX_BINS + 1).set(edges);
  const tables = new Uint32Array(memory, TABLES, TABLE_BYTES).fill(0);
  const mask = of === 'magnitudes' ? 0x7fffffff : -1;
  eachChunk(data, memory, DATA, (from, to) => count(from, to, first, Math.fround(last - first), bins, bins - 1, mask));
  for (let lane = 0; lane < 4; lane++) {
    const table = (lane * TABLE_BYTES) / 4 + 1;
    for (let bin = 0; bin < bins; bin++) counts[bin] = (counts[bin] as number) + (tables[table + bin] as number);
  }
}
