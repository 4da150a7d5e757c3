/** QuantizeLinear to 8 bits and its quantization error, in WebAssembly. Gives the same integers as the scalar code. */
import { getDefined } from '../../base/invariant.js';
import { openWasm } from '../../base/wasm-instance.js';
import { quantizeWasm } from './generated/quantize.js';
import { CHUNK_BYTES, eachChunk } from './kernel-chunks.js';
import type { QParams, Range } from './qparams.js';
import type { IntegerRange } from './quantized-dtype.js';

/** Addresses in the kernel's memory: two groups of four sums, three groups of four extremes, the floats, their integers, the floats of a constant. */
const [NOISE, SIGNAL, EXTREMES, DATA, INTEGERS] = [0, 32, 64, 64 * 1024, 64 * 1024 + CHUNK_BYTES];
const CONSTANT = INTEGERS + CHUNK_BYTES;

/** Elements of the place for a constant: 16 MB. */
export const MOST_CONSTANT = 1 << 22;

/** `quantizeGroups` and `measureGroups` take multiples of these element counts. */
export const QUANTIZE_GROUP = 16;
export const MEASURE_GROUP = 4;

type Quantize = (from: number, to: number, target: number, scale: number, zeroPoint: number, least: number, greatest: number) => void;

interface Kernel {
  readonly signed: Quantize;
  readonly unsigned: Quantize;
  readonly both: Quantize;
  readonly measure: (from: number, to: number, scale: number, least: number, greatest: number) => void;
  readonly noise: (from: number, to: number, scale: number, perUnit: number, least: number, greatest: number) => void;
  readonly extremes: (from: number, to: number) => void;
  readonly memory: ArrayBuffer;
}

let opened: Kernel | undefined;

function openKernel(): Kernel {
  if (opened !== undefined) return opened;
  const { functions, memory } = openWasm(quantizeWasm);
  const get = (name: string) => getDefined(functions[name], name);
  opened = {
    signed: get('signed'),
    unsigned: get('unsigned'),
    both: get('quantizeAndMeasure'),
    measure: get('measure'),
    noise: get('measureNoise'),
    extremes: get('extremes'),
    memory,
  };
  return opened;
}

/** The place in the kernel's memory for the elements of a constant, where nothing is copied again. All constants share it. */
export function constantPlace(): Float32Array {
  return new Float32Array(openKernel().memory, CONSTANT, MOST_CONSTANT);
}

/** Writes the integers of `x` to `y`. The length is a multiple of QUANTIZE_GROUP. NaN gives the smallest integer. */
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

/**
 * Both at once: writes the integers of whole groups of QUANTIZE_GROUP to `y`, and measures whole groups of MEASURE_GROUP, finite elements.
 * Elements behind them are left out.
 */
export function quantizeAndMeasureGroups(
  x: Float32Array,
  y: Int8Array | Uint8Array,
  { scale, zeroPoint }: QParams,
  { low, high }: IntegerRange,
): SignalAndNoise {
  const { both, measure, memory } = openKernel();
  const integers = y instanceof Int8Array ? new Int8Array(memory, INTEGERS) : new Uint8Array(memory, INTEGERS);
  const sums = new Float64Array(memory, NOISE, 8).fill(0);
  const [least, greatest] = [low - zeroPoint, high - zeroPoint];
  eachChunk(x, memory, DATA, (from, to, start) => {
    const count = (to - from) / 4;
    const [quantized, measured] = [count - (count % QUANTIZE_GROUP), count - (count % MEASURE_GROUP)];
    if (quantized > 0) {
      both(from, from + 4 * quantized, INTEGERS, scale, zeroPoint, least, greatest);
      y.set(integers.subarray(0, quantized), start);
    }
    if (measured > quantized) measure(from + 4 * quantized, from + 4 * measured, scale, least, greatest);
  });
  return addSums(sums);
}

/** Sums in double: element i is added to sum i mod 4, in order; the four sums are added as (0 + 1) + (2 + 3). */
export interface SignalAndNoise {
  /** Σ x² */
  readonly signal: number;
  /** Σ (x − float32(integer of x · scale))² */
  readonly noise: number;
}

/** Signal and noise of quantizing `x`: finite elements, a multiple of MEASURE_GROUP. */
export function measureGroups(x: Float32Array, { scale, zeroPoint }: QParams, { low, high }: IntegerRange): SignalAndNoise {
  if (x.length === 0) return { signal: 0, noise: 0 };
  const { measure, memory } = openKernel();
  const sums = new Float64Array(memory, NOISE, 8).fill(0);
  eachChunk(x, memory, DATA, (from, to) => measure(from, to, scale, low - zeroPoint, high - zeroPoint));
  return addSums(sums);
}

/**
 * The noise of `measureGroups` alone, with the same bits, in half the time. The scale is a power of two, and no magnitude is 2²³ · scale or more.
 * Differences are exact in float32 then: a difference has at most 24 bits above the last one of x.
 */
export function measureNoiseOfGroups(x: Float32Array, { scale, zeroPoint }: QParams, { low, high }: IntegerRange): number {
  if (x.length === 0) return 0;
  const { noise, memory } = openKernel();
  const sums = new Float64Array(memory, NOISE, 8).fill(0);
  eachChunk(x, memory, DATA, (from, to) => noise(from, to, scale, 1 / scale, low - zeroPoint, high - zeroPoint));
  return addSums(sums).noise;
}

/** The least and the greatest element, with −0 as 0; undefined if one is not finite. A multiple of MEASURE_GROUP elements, at least one group. */
export function findExtremesOfGroups(x: Float32Array): Range | undefined {
  const { extremes, memory } = openKernel();
  const bits = new Int32Array(memory, EXTREMES, 12);
  const floats = new Float32Array(memory, EXTREMES, 8);
  floats.fill(Number.POSITIVE_INFINITY, 0, 4).fill(Number.NEGATIVE_INFINITY, 4, 8);
  bits.fill(0, 8, 12);
  eachChunk(x, memory, DATA, (from, to) => extremes(from, to));
  if (Math.max(...bits.subarray(8, 12)) >= INFINITY_BITS) return undefined;
  return { low: Math.min(...floats.subarray(0, 4)) + 0, high: Math.max(...floats.subarray(4, 8)) + 0 };
}

/** The bits of infinity in float32; those of NaN are above. */
const INFINITY_BITS = 0x7f800000;

function addSums(sums: Float64Array): SignalAndNoise {
  const add = (from: number): number => (sums[from] ?? 0) + (sums[from + 1] ?? 0) + ((sums[from + 2] ?? 0) + (sums[from + 3] ?? 0));
  return { noise: add(NOISE / 8), signal: add(SIGNAL / 8) };
}
