/** How is a tensor summarized at the speed of memory? The figures of plain-summary.ts in WebAssembly, four elements at a time, to the same bits. */
import { getDefined } from '../../base/invariant.js';
import { encodeWasm, type WasmCode, type WasmFunction } from '../../base/wasm-encoder.js';
import { openWasm } from '../../base/wasm-instance.js';
import { wasm } from '../../base/wasm-instructions.js';
import { CHUNK_BYTES, eachChunk, eachGroup } from '../integers/kernel-chunks.js';
import { OFFSET_BITS } from './histogram.js';
import { BINS, type Lanes, type OpenBins, ORIGIN } from './plain-summary.js';

/** What lies where in the kernel's memory, in bytes. */
const STATE = 0;
const BIN_BYTES = 8;
const TABLES = 1024;
/** One table per lane, as neighbours often fall into one bin, and the second would wait for the first. */
const LANES = 4;
const TABLE_BYTES = BINS * BIN_BYTES + 8;
const DATA = 192 * 1024;
const PAGES = (DATA + CHUNK_BYTES) / 65536;
/** A bin is one 64-bit integer: its count above, the sum of its offsets below, which so many elements per table cannot fill. */
const COUNT_SHIFT = 32n;
const MOST_UNREAD = 2 ** (32 - OFFSET_BITS);

/** Four least and four greatest order keys, least magnitudes, zeros; four sums, four sums of squares: see `Lanes`. */
const [LEAST, GREATEST, SMALLEST, ZEROS, SUM, SUM_UPPER, SQUARES, SQUARES_UPPER] = [0, 16, 32, 48, 64, 80, 96, 112];

interface Kernel {
  readonly addUp: (from: number, to: number) => void;
  readonly count: (from: number, to: number, perUnit: number) => void;
  readonly memory: ArrayBuffer;
}

let opened: Kernel | undefined;

function openKernel(): Kernel {
  if (opened !== undefined) return opened;
  const { functions, memory } = openWasm(encodeWasm({ pages: PAGES, functions: [addUpFunction(), countFunction()] }));
  opened = { addUp: getDefined(functions.addUp, 'addUp'), count: getDefined(functions.count, 'count'), memory };
  return opened;
}

/** Adds `data`, a multiple of four elements. */
export function addByKernel(lanes: Lanes, data: Float32Array): void {
  if (data.length === 0) return;
  const { addUp, memory } = openKernel();
  const keys = new Int32Array(memory, STATE, 16);
  keys.fill(lanes.least, 0, 4).fill(lanes.greatest, 4, 8).fill(lanes.smallest, 8, 12).fill(0, 12, 16);
  const sums = new Float64Array(memory, STATE + SUM, 8);
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

/** Whether float32 products with the grid's factor are exact and not too small to keep their sign, so that they can be binned here. */
export function canCountByKernel(exponent: number): boolean {
  return exponent <= OFFSET_BITS && OFFSET_BITS - exponent <= 127;
}

/** Adds `data`, a multiple of four elements, on a grid that `canCountByKernel`. */
export function countByKernel({ counts, offsets }: OpenBins, exponent: number, data: Float32Array): void {
  if (data.length === 0) return;
  const { count, memory } = openKernel();
  const tables = new BigUint64Array(memory, TABLES, (LANES * TABLE_BYTES) / 8).fill(0n);
  const words = new Uint32Array(memory, TABLES, tables.length * 2);
  const perUnit = 2 ** (OFFSET_BITS - exponent);
  for (let start = 0; start < data.length; start += MOST_UNREAD) {
    eachChunk(data.subarray(start, start + MOST_UNREAD), memory, DATA, (from, to) => count(from, to, perUnit));
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

const { get, set, tee, i32, i64, v128, i32x4, f32x4, f64x2, upperHalf } = wasm;

function addUpFunction(): WasmFunction {
  const [pointer, end, x, key, magnitude, half] = [0, 1, 2, 3, 4, 5];
  /** Locals that the state is held in while the loop runs. */
  const held: readonly (readonly [local: number, offset: number])[] = [
    [6, LEAST],
    [7, GREATEST],
    [8, SMALLEST],
    [9, ZEROS],
    [10, SUM],
    [11, SUM_UPPER],
    [12, SQUARES],
    [13, SQUARES_UPPER],
  ];
  const [least, greatest, smallest, zeros, sum, sumUpper, squares, squaresUpper] = [6, 7, 8, 9, 10, 11, 12, 13];
  const magnitudeBits = [...i32.const(0x7fffffff), ...i32x4.splat];
  const addHalf = (total: number, totalSquares: number): WasmCode => [
    ...[...set(half), ...get(total), ...get(half), ...f64x2.add, ...set(total)],
    ...[...get(totalSquares), ...get(half), ...get(half), ...f64x2.mul, ...f64x2.add, ...set(totalSquares)],
  ];
  const body = [
    ...held.flatMap(([local, offset]) => [...i32.const(STATE), ...v128.load(offset), ...set(local)]),
    ...eachGroup(
      pointer,
      end,
      16,
      [...get(pointer), ...v128.load(0), ...set(x)],
      [...get(x), ...get(x), ...i32.const(31), ...i32x4.shrS, ...magnitudeBits, ...v128.and, ...v128.xor, ...set(key)],
      [...get(least), ...get(key), ...i32x4.minS, ...set(least), ...get(greatest), ...get(key), ...i32x4.maxS, ...set(greatest)],
      [...get(x), ...magnitudeBits, ...v128.and, ...set(magnitude)],
      [...get(smallest), ...get(magnitude), ...i32x4.minS, ...set(smallest)],
      [...get(zeros), ...get(magnitude), ...i32.const(0), ...i32x4.splat, ...i32x4.eq, ...i32x4.sub, ...set(zeros)],
      [...get(x), ...f64x2.promoteLowF32x4, ...addHalf(sum, squares)],
      [...upperHalf(x), ...f64x2.promoteLowF32x4, ...addHalf(sumUpper, squaresUpper)],
    ),
    ...held.flatMap(([local, offset]) => [...i32.const(STATE), ...get(local), ...v128.store(offset)]),
  ];
  const locals = Array<'v128'>(12).fill('v128');
  return { name: 'addUp', params: ['i32', 'i32'], locals, body };
}

function countFunction(): WasmFunction {
  const [pointer, end, perUnit, units, addresses, within, address] = [0, 1, 2, 3, 4, 5, 6];
  const intoTable = (lane: number): WasmCode => [
    ...[...get(addresses), ...i32x4.extractLane(lane), ...tee(address)],
    ...[...get(address), ...i64.load(TABLES + lane * TABLE_BYTES)],
    ...[...get(within), ...i32x4.extractLane(lane), ...i64.extendI32U, ...i64.const(1n << COUNT_SHIFT), ...i64.add],
    ...[...i64.add, ...i64.store(TABLES + lane * TABLE_BYTES)],
  ];
  const body = eachGroup(
    pointer,
    end,
    16,
    [...get(pointer), ...v128.load(0), ...get(perUnit), ...f32x4.splat, ...f32x4.mul, ...f32x4.floor, ...i32x4.truncSatF32x4S],
    [...i32.const(ORIGIN << OFFSET_BITS), ...i32x4.splat, ...i32x4.add, ...set(units)],
    [...get(units), ...i32.const(OFFSET_BITS), ...i32x4.shrU, ...i32.const(3), ...i32x4.shl, ...set(addresses)],
    [...get(units), ...i32.const(2 ** OFFSET_BITS - 1), ...i32x4.splat, ...v128.and, ...set(within)],
    ...[0, 1, 2, 3].map(intoTable),
  );
  return { name: 'count', params: ['i32', 'i32', 'f32'], locals: ['v128', 'v128', 'v128', 'i32'], body };
}
