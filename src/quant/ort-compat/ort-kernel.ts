/** How are elements counted between given edges in little time? In WebAssembly: the same bins as in plain code (ort-histogram.ts). */
import { getDefined } from '../../base/invariant.js';
import { encodeWasm, type WasmCode, type WasmFunction } from '../../base/wasm-encoder.js';
import { openWasm } from '../../base/wasm-instance.js';
import { wasm } from '../../base/wasm-instructions.js';
import { CHUNK_BYTES, eachChunk, eachGroup } from '../integers/kernel-chunks.js';
import type { OrtBinning } from './ort-method.js';

/** Histograms of more bins are counted in plain code. */
export const MOST_BINS = 4096;

/** What lies where in the kernel's memory: the edges, a table per lane with a slot before its first bin, the elements. */
const EDGES = 0;
const TABLE_BYTES = 4 * (MOST_BINS + 2);
const TABLES = 4 * (MOST_BINS + 4);
const DATA = 128 * 1024;
const PAGES = (DATA + CHUNK_BYTES) / 65536;

interface Kernel {
  readonly count: (from: number, to: number, first: number, span: number, bins: number, lastBin: number, mask: number) => void;
  readonly memory: ArrayBuffer;
}

let opened: Kernel | undefined;

function openKernel(): Kernel {
  if (opened !== undefined) return opened;
  const { functions, memory } = openWasm(encodeWasm({ pages: PAGES, functions: [countFunction()] }));
  opened = { count: getDefined(functions.count, 'count'), memory };
  return opened;
}

/** Adds `data`, a multiple of four elements between the outer edges, to `counts`. */
export function countEdgesByKernel(
  counts: Float64Array,
  data: Float32Array,
  { of, bins, first, last }: OrtBinning,
  edges: Float32Array,
): void {
  if (data.length === 0) return;
  const { count, memory } = openKernel();
  new Float32Array(memory, EDGES, MOST_BINS + 1).set(edges);
  const tables = new Uint32Array(memory, TABLES, TABLE_BYTES).fill(0);
  const mask = of === 'magnitudes' ? 0x7fffffff : -1;
  eachChunk(data, memory, DATA, (from, to) => count(from, to, first, Math.fround(last - first), bins, bins - 1, mask));
  for (let lane = 0; lane < 4; lane++) {
    const table = (lane * TABLE_BYTES) / 4 + 1;
    for (let bin = 0; bin < bins; bin++) counts[bin] = (counts[bin] as number) + (tables[table + bin] as number);
  }
}

const { get, set, tee, i32, i32x4, v128, f32, f32x4 } = wasm;

function countFunction(): WasmFunction {
  const [pointer, end, first, span, bins, lastBin, mask, x, guess, bin, beyond] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const value = (lane: number): WasmCode => [...get(x), ...f32x4.extractLane(lane)];
  const address = [...get(bin), ...i32.const(2), ...i32.shl];
  const intoTable = (lane: number): WasmCode => {
    const table = TABLES + lane * TABLE_BYTES;
    return [
      // bin −= x < edges[bin]
      ...[...get(guess), ...i32x4.extractLane(lane), ...set(bin)],
      ...[...get(bin), ...value(lane), ...address, ...f32.load(EDGES), ...f32.lt, ...i32.sub, ...set(bin)],
      // bin += bin ≠ lastBin and x ≥ edges[bin + 1]; bin is kept one higher from here on, as it may be −1.
      ...[...get(bin), ...i32.const(1), ...i32.add, ...tee(bin)],
      ...[...value(lane), ...address, ...f32.load(EDGES), ...f32.ge, ...get(bin), ...get(beyond), ...i32.ne, ...i32.and],
      ...[...i32.add, ...set(bin)],
      ...[...address, ...address, ...i32.load(table), ...i32.const(1), ...i32.add, ...i32.store(table)],
    ];
  };
  const body = [
    ...[...get(lastBin), ...i32.const(1), ...i32.add, ...set(beyond)],
    ...eachGroup(
      pointer,
      end,
      16,
      [...get(pointer), ...v128.load(0), ...get(mask), ...i32x4.splat, ...v128.and, ...set(x)],
      [...get(x), ...get(first), ...f32x4.splat, ...f32x4.sub, ...get(span), ...f32x4.splat, ...f32x4.div],
      [...get(bins), ...f32x4.splat, ...f32x4.mul, ...i32x4.truncSatF32x4S],
      [...get(lastBin), ...i32x4.splat, ...i32x4.minS, ...i32.const(0), ...i32x4.splat, ...i32x4.maxS, ...set(guess)],
      ...[0, 1, 2, 3].map(intoTable),
    ),
  ];
  return { name: 'count', params: ['i32', 'i32', 'f32', 'f32', 'f32', 'i32', 'i32'], locals: ['v128', 'v128', 'i32', 'i32'], body };
}
