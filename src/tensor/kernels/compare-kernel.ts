/** Comparison of float32 arrays in WebAssembly: the sums of compare.ts with the same bits, as elements are added in their order. */
import { getDefined } from '../../base/invariant.js';
import { openWasm } from '../../base/wasm-instance.js';
import { compareWasm } from './generated/compare.js';

/** Addresses in the kernel's memory, in bytes. */
const [STATE, EXTREMES, REFERENCE, CHUNK_BYTES] = [0, 64, 4 * 1024, 64 * 1024];
const CANDIDATE = REFERENCE + CHUNK_BYTES;
const CHUNK = CHUNK_BYTES / 4;
/** Index of the squared deviations in the state. */
const DEVIATIONS = 7;

/** Opening the kernel takes longer than comparing fewer elements. */
const LEAST = 4096;

/** Sums of compare.ts over pairs of finite elements. */
export interface PairSums {
  maxAbs: number;
  referenceSquares: number;
  candidateSquares: number;
  products: number;
  errorSquares: number;
}

/** What the moments of the reference need first. The sign of a zero among the extremes may be that of any zero of the array. */
export interface ValueSums {
  sum: number;
  min: number;
  max: number;
}

interface Kernel {
  readonly addPairs: (from: number, to: number, candidate: number) => void;
  readonly addSquares: (from: number, to: number, mean: number) => void;
  readonly state: Float64Array;
  readonly extremes: Float32Array;
  readonly reference: Float32Array;
  readonly candidate: Float32Array;
}

let opened: Kernel | undefined;

function openKernel(): Kernel {
  if (opened !== undefined) return opened;
  const { functions, memory } = openWasm(compareWasm);
  const get = (name: string) => getDefined(functions[name], name);
  opened = {
    addPairs: get('addPairs'),
    addSquares: get('addSquares'),
    state: new Float64Array(memory, STATE, 8),
    extremes: new Float32Array(memory, EXTREMES, 8),
    reference: new Float32Array(memory, REFERENCE, CHUNK),
    candidate: new Float32Array(memory, CANDIDATE, CHUNK),
  };
  return opened;
}

/**
 * Adds pairs to `sums`, and the reference's elements to `values`, in place.
 * @returns how many elements were added: all up to the first chunk with one that is not finite, in whole groups of four.
 */
export function addPairsByKernel(sums: PairSums, values: ValueSums, reference: Float32Array, candidate: Float32Array): number {
  if (reference.length < LEAST) return 0;
  const { addPairs, state, extremes, ...chunk } = openKernel();
  const whole = reference.length - (reference.length % 4);
  for (let from = 0; from < whole; from += CHUNK) {
    const end = Math.min(from + CHUNK, whole);
    chunk.reference.set(reference.subarray(from, end));
    chunk.candidate.set(candidate.subarray(from, end));
    state.set([sums.referenceSquares, sums.candidateSquares, sums.products, sums.errorSquares, sums.maxAbs, sums.maxAbs, values.sum]);
    extremes.fill(values.min, 0, 4).fill(values.max, 4, 8);
    addPairs(REFERENCE, REFERENCE + 4 * (end - from), CANDIDATE);
    const [referenceSquares = 0, candidateSquares = 0, products = 0, errorSquares = 0, even = 0, odd = 0, sum = 0] = state;
    // The square of a finite float is far from the largest double.
    if (!Number.isFinite(referenceSquares + candidateSquares)) return from;
    Object.assign(sums, { maxAbs: Math.max(even, odd), referenceSquares, candidateSquares, products, errorSquares } satisfies PairSums);
    Object.assign(values, { sum, min: Math.min(...extremes.subarray(0, 4)), max: Math.max(...extremes.subarray(4)) } satisfies ValueSums);
  }
  return whole;
}

/** The squared deviations from `mean` of the first elements. @returns their sum, and how many there are: all in whole groups of four. */
export function addSquaresByKernel(values: Float32Array, mean: number): { readonly sum: number; readonly added: number } {
  if (values.length < LEAST) return { sum: 0, added: 0 };
  const { addSquares, reference, state } = openKernel();
  state[DEVIATIONS] = 0;
  const added = values.length - (values.length % 4);
  for (let from = 0; from < added; from += CHUNK) {
    const end = Math.min(from + CHUNK, added);
    reference.set(values.subarray(from, end));
    addSquares(REFERENCE, REFERENCE + 4 * (end - from), mean);
  }
  return { sum: state[DEVIATIONS], added };
}
