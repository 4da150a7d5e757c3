/** Sums of products of errors, in double. */

/** Elements per call of an inner loop: V8 optimizes functions that are called often better than a single long loop. */
const BLOCK = 4096;

export type Numbers = ArrayLike<number>;

export interface ErrorSums {
  readonly signal: number;
  readonly noise: number;
  readonly own: number;
  readonly ownPart: number;
}

/** @param clean what the step computes without its own error. */
export function sumErrors(float: Numbers, quantized: Numbers, clean: Numbers): ErrorSums {
  const sums = { signal: 0, noise: 0, own: 0, ownPart: 0 };
  for (let from = 0; from < float.length; from += BLOCK) {
    addBlock(sums, [float, quantized, clean], from, Math.min(from + BLOCK, float.length));
  }
  return sums;
}

type Sums = { -readonly [Name in keyof ErrorSums]: number };

function addBlock(sums: Sums, [float, quantized, clean]: readonly [Numbers, Numbers, Numbers], from: number, end: number): void {
  let { signal, noise, own, ownPart } = sums;
  for (let i = from; i < end; i++) {
    const x = float[i] as number;
    const y = quantized[i] as number;
    const error = y - x;
    const added = y - (clean[i] as number);
    signal += x * x;
    noise += error * error;
    own += added * added;
    ownPart += added * error;
  }
  Object.assign(sums, { signal, noise, own, ownPart });
}

/** Σ (partial − float) · (quantized − float). */
export function sumReached(float: Numbers, quantized: Numbers, partial: Numbers): number {
  let total = 0;
  for (let from = 0; from < float.length; from += BLOCK) {
    total += reachedIn([float, quantized, partial], from, Math.min(from + BLOCK, float.length));
  }
  return total;
}

function reachedIn([float, quantized, partial]: readonly [Numbers, Numbers, Numbers], from: number, end: number): number {
  let sum = 0;
  for (let i = from; i < end; i++) {
    const x = float[i] as number;
    sum += ((partial[i] as number) - x) * ((quantized[i] as number) - x);
  }
  return sum;
}
