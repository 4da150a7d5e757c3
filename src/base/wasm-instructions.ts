/** Which bytes are the instructions of WebAssembly? Those that kernels here use, named as in the specification. */
import { signed, unsigned, type WasmCode } from './wasm-encoder.js';

const simd = (opcode: number, ...rest: readonly number[]): WasmCode => [0xfd, ...unsigned(opcode), ...rest];
/** Alignment as a power of two, and a constant offset. */
const memory = (align: number, offset: number): number[] => [align, ...unsigned(offset)];

export const wasm = {
  get: (local: number): WasmCode => [0x20, ...unsigned(local)],
  set: (local: number): WasmCode => [0x21, ...unsigned(local)],
  tee: (local: number): WasmCode => [0x22, ...unsigned(local)],
  /** Runs `body` again as long as it leaves a number that is not 0. */
  loopWhile: (...body: readonly WasmCode[]): WasmCode => [0x03, 0x40, ...body.flat(), 0x0d, 0x00, 0x0b],

  i32: {
    const: (value: number): WasmCode => [0x41, ...signed(BigInt(value))],
    load: (offset: number): WasmCode => [0x28, ...memory(2, offset)],
    store: (offset: number): WasmCode => [0x36, ...memory(2, offset)],
    add: [0x6a],
    sub: [0x6b],
    and: [0x71],
    shl: [0x74],
    ne: [0x47],
    ltU: [0x49],
  },
  f32: { load: (offset: number): WasmCode => [0x2a, ...memory(2, offset)], lt: [0x5d], ge: [0x60] },
  i64: {
    const: (value: bigint): WasmCode => [0x42, ...signed(value)],
    add: [0x7c],
    load: (offset: number): WasmCode => [0x29, ...memory(3, offset)],
    store: (offset: number): WasmCode => [0x37, ...memory(3, offset)],
    extendI32U: [0xad],
  },
  v128: {
    load: (offset: number): WasmCode => simd(0x00, ...memory(4, offset)),
    store: (offset: number): WasmCode => simd(0x0b, ...memory(4, offset)),
    /** One 32-bit value in all four lanes. */
    load32Splat: (offset: number): WasmCode => simd(0x09, ...memory(2, offset)),
    store32Lane: (offset: number, lane: number): WasmCode => simd(0x5a, ...memory(2, offset), lane),
    and: simd(0x4e),
    or: simd(0x50),
    xor: simd(0x51),
  },
  i32x4: {
    splat: simd(0x11),
    extractLane: (lane: number): WasmCode => simd(0x1b, lane),
    eq: simd(0x37),
    shl: simd(0xab),
    shrS: simd(0xac),
    shrU: simd(0xad),
    add: simd(0xae),
    sub: simd(0xb1),
    minS: simd(0xb6),
    maxS: simd(0xb8),
    truncSatF32x4S: simd(0xf8),
  },
  /** Two vectors become one: `lanes` counts the first one's four from 0, the second one's from 4. */
  shuffle32: (...lanes: readonly [number, number, number, number]): WasmCode =>
    simd(0x0d, ...lanes.flatMap(lane => [0, 1, 2, 3].map(byte => 4 * lane + byte))),
  i16x8: { narrowI32x4S: simd(0x85) },
  i8x16: { narrowI16x8S: simd(0x65), narrowI16x8U: simd(0x66) },
  f32x4: {
    splat: simd(0x13),
    extractLane: (lane: number): WasmCode => simd(0x1f, lane),
    gt: simd(0x44),
    floor: simd(0x68),
    nearest: simd(0x6a),
    add: simd(0xe4),
    sub: simd(0xe5),
    mul: simd(0xe6),
    div: simd(0xe7),
    /** NaN where one of the two is. */
    min: simd(0xe8),
    max: simd(0xe9),
    /** (a, b): b < a ? b : a */
    pmin: simd(0xea),
    /** (a, b): a < b ? b : a */
    pmax: simd(0xeb),
  },
  f64x2: { promoteLowF32x4: simd(0x5f), add: simd(0xf0), sub: simd(0xf1), mul: simd(0xf2) },
  /** Both 64-bit lanes of a vector become its upper one. */
  upperHalf: (local: number): WasmCode => [
    ...[0x20, ...unsigned(local)],
    ...[0x20, ...unsigned(local)],
    ...simd(0x0d, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15),
  ],
} as const;
