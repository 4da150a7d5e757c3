/** How are millions of weights quantized in little time? QuantizeLinear to eight bits, and what it loses, in WebAssembly: the same integers as in plain code. */
import { getDefined } from '../../base/invariant.js';
import { encodeWasm, type WasmCode, type WasmFunction } from '../../base/wasm-encoder.js';
import { openWasm } from '../../base/wasm-instance.js';
import { wasm } from '../../base/wasm-instructions.js';
import { CHUNK_BYTES, eachChunk, eachGroup } from './kernel-chunks.js';
import type { QParams } from './qparams.js';
import type { IntegerRange } from './quantized-dtype.js';

/** What lies where in the kernel's memory: two pairs of sums, the floats, the integers of them. */
const [NOISE, SIGNAL, DATA, INTEGERS] = [0, 32, 64 * 1024, 64 * 1024 + CHUNK_BYTES];
const PAGES = (INTEGERS + CHUNK_BYTES) / 65536;

/** Elements that `quantizeGroups` takes at a time, and `measureGroups`. */
export const QUANTIZE_GROUP = 16;
export const MEASURE_GROUP = 4;

type Quantize = (from: number, to: number, target: number, scale: number, zeroPoint: number, least: number, greatest: number) => void;

interface Kernel {
  readonly signed: Quantize;
  readonly unsigned: Quantize;
  readonly measure: (from: number, to: number, scale: number, least: number, greatest: number) => void;
  readonly memory: ArrayBuffer;
}

let opened: Kernel | undefined;

function openKernel(): Kernel {
  if (opened !== undefined) return opened;
  const { i8x16 } = wasm;
  const signed = quantizeFunction('signed', i8x16.narrowI16x8S);
  const unsigned = quantizeFunction('unsigned', i8x16.narrowI16x8U);
  const { functions, memory } = openWasm(encodeWasm({ pages: PAGES, functions: [signed, unsigned, measureFunction()] }));
  const get = (name: string): Kernel['signed'] & Kernel['measure'] => getDefined(functions[name], name);
  opened = { signed: get('signed'), unsigned: get('unsigned'), measure: get('measure'), memory };
  return opened;
}

/** Writes the integers of `x`, a multiple of QUANTIZE_GROUP elements, to `y`. NaN gives the least one. */
export function quantizeGroups(
  x: Float32Array,
  y: Int8Array | Uint8Array,
  { scale, zeroPoint }: QParams,
  { low, high }: IntegerRange,
): void {
  const { signed, unsigned, memory } = openKernel();
  const quantize = y instanceof Int8Array ? signed : unsigned;
  const integers = y instanceof Int8Array ? new Int8Array(memory, INTEGERS) : new Uint8Array(memory, INTEGERS);
  eachChunk(x, memory, DATA, (from, to, start) => {
    quantize(from, to, INTEGERS, scale, zeroPoint, low - zeroPoint, high - zeroPoint);
    y.set(integers.subarray(0, (to - from) / 4), start);
  });
}

/** Sums in double: element i is added to sum i mod 4, in order, and the four are added as (0 + 1) + (2 + 3). */
export interface QuantizedLoss {
  /** Σ x² */
  readonly signal: number;
  /** Σ (x − float32(its integer · scale))² */
  readonly noise: number;
}

/** What `x`, a multiple of MEASURE_GROUP finite elements, loses. */
export function measureGroups(x: Float32Array, { scale, zeroPoint }: QParams, { low, high }: IntegerRange): QuantizedLoss {
  if (x.length === 0) return { signal: 0, noise: 0 };
  const { measure, memory } = openKernel();
  const sums = new Float64Array(memory, NOISE, 8).fill(0);
  eachChunk(x, memory, DATA, (from, to) => measure(from, to, scale, low - zeroPoint, high - zeroPoint));
  const add = ([a = 0, b = 0, c = 0, d = 0]: Float64Array): number => a + b + (c + d);
  return { noise: add(sums.subarray(NOISE / 8, NOISE / 8 + 4)), signal: add(sums.subarray(SIGNAL / 8, SIGNAL / 8 + 4)) };
}

const { get, set, i32, i32x4, i16x8, v128, f32x4, f64x2, upperHalf } = wasm;

/** The number of the step of the four floats on the stack, saturated, as float32. */
const saturated = (x: WasmCode, scale: number, least: number, greatest: number): WasmCode => [
  ...[...get(greatest), ...f32x4.splat, ...get(least), ...f32x4.splat],
  ...[...x, ...get(scale), ...f32x4.splat, ...f32x4.div, ...f32x4.nearest],
  ...[...f32x4.pmax, ...f32x4.pmin],
];

function quantizeFunction(name: string, narrow: WasmCode): WasmFunction {
  const [pointer, end, target, scale, zeroPoint, least, greatest] = [0, 1, 2, 3, 4, 5, 6];
  const four = (offset: number): WasmCode => [
    ...saturated([...get(pointer), ...v128.load(offset)], scale, least, greatest),
    ...[...i32x4.truncSatF32x4S, ...get(zeroPoint), ...i32x4.splat, ...i32x4.add],
  ];
  const eight = (offset: number): WasmCode => [...four(offset), ...four(offset + 16), ...i16x8.narrowI32x4S];
  const body = eachGroup(
    pointer,
    end,
    64,
    [...get(target), ...eight(0), ...eight(32), ...narrow, ...v128.store(0)],
    [...get(target), ...i32.const(16), ...i32.add, ...set(target)],
  );
  return { name, params: ['i32', 'i32', 'i32', 'f32', 'i32', 'f32', 'f32'], locals: [], body };
}

function measureFunction(): WasmFunction {
  const [pointer, end, scale, least, greatest, x, y, half, difference] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const held: readonly (readonly [local: number, offset: number])[] = [
    [9, NOISE],
    [10, NOISE + 16],
    [11, SIGNAL],
    [12, SIGNAL + 16],
  ];
  const addSquare = (total: number, of: number): WasmCode => [
    ...get(total),
    ...get(of),
    ...get(of),
    ...f64x2.mul,
    ...f64x2.add,
    ...set(total),
  ];
  const addHalf = (takeHalf: (local: number) => WasmCode, noise: number, signal: number): WasmCode => [
    ...[...takeHalf(x), ...f64x2.promoteLowF32x4, ...set(half)],
    ...[...get(half), ...takeHalf(y), ...f64x2.promoteLowF32x4, ...f64x2.sub, ...set(difference)],
    ...[...addSquare(noise, difference), ...addSquare(signal, half)],
  ];
  const body = [
    ...held.flatMap(([local, offset]) => [...i32.const(0), ...v128.load(offset), ...set(local)]),
    ...eachGroup(
      pointer,
      end,
      16,
      [...get(pointer), ...v128.load(0), ...set(x)],
      [...saturated(get(x), scale, least, greatest), ...get(scale), ...f32x4.splat, ...f32x4.mul, ...set(y)],
      addHalf(get, 9, 11),
      addHalf(upperHalf, 10, 12),
    ),
    ...held.flatMap(([local, offset]) => [...i32.const(0), ...get(local), ...v128.store(offset)]),
  ];
  return { name: 'measure', params: ['i32', 'i32', 'f32', 'f32', 'f32'], locals: Array<'v128'>(8).fill('v128'), body };
}
