/** Tensors of one memory arena over the steps of a schedule: sizes, lifetimes and the lower bound of the arena's size. */

/** A tensor that occupies memory from step `first` to step `last`, both included. */
export interface LiveTensor {
  readonly bytes: number;
  readonly first: number;
  readonly last: number;
}

/** Tensors are placed at multiples of this, which is the length of a cache line and of the longest vector. */
export const ALIGNMENT_BYTES = 64;

export function alignBytes(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
}

export function areLiveTogether(a: LiveTensor, b: LiveTensor): boolean {
  return a.first <= b.last && b.first <= a.last;
}

export interface ArenaBound {
  /** No arena can be smaller: the largest sum of the aligned sizes of the tensors that are live at one step. */
  readonly bytes: number;
  /** The first step with that sum; 0 if there is no tensor. */
  readonly step: number;
}

export function findBound(tensors: readonly LiveTensor[]): ArenaBound {
  return sumLive(tensors).reduce((most, bytes, step) => (bytes > most.bytes ? { bytes, step } : most), { bytes: 0, step: 0 });
}

/** Sum of the aligned sizes of the live tensors at each step. */
export function sumLive(tensors: readonly LiveTensor[]): readonly number[] {
  const steps = tensors.reduce((most, { last }) => Math.max(most, last + 1), 0);
  const change = new Float64Array(steps + 1);
  for (const { bytes, first, last } of tensors) {
    change[first] = (change[first] ?? 0) + alignBytes(bytes);
    change[last + 1] = (change[last + 1] ?? 0) - alignBytes(bytes);
  }
  let live = 0;
  return Array.from({ length: steps }, (_, step) => {
    live += change[step] ?? 0;
    return live;
  });
}
