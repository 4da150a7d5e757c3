/** Summarizes one tensor: whole groups of four elements by the WebAssembly kernel, the rest by the scalar code, with the same bits. */
import { addScalar, countScalar, newBins, newLanes, type OpenBins, toOrderKey } from './scalar-summary.js';
import { addByKernel, canCountByKernel, countByKernel } from './summary-kernel.js';

/** Of at least one finite element. */
export interface Moments {
  /** Exact float32 numbers; −0 becomes 0. */
  readonly min: number;
  readonly max: number;
  readonly leastMagnitude: number;
  /** Number of elements that are 0 or −0. */
  readonly zeros: number;
  /** In double: element i is added to sum i mod 4, in order; the four sums are added as (0 + 1) + (2 + 3). */
  readonly sum: number;
  /** Sum of squares, computed in the same way. */
  readonly squares: number;
}

/** If an element is NaN or infinite, `sum` is not finite, and the other members are undefined. */
export function addUp(data: Float32Array): Moments {
  const lanes = newLanes();
  const [groups, rest] = splitGroups(data);
  addByKernel(lanes, groups);
  addScalar(lanes, rest);
  return {
    min: fromOrderKey(lanes.least) + 0,
    max: fromOrderKey(lanes.greatest) + 0,
    leastMagnitude: fromOrderKey(lanes.smallest),
    zeros: lanes.zeros,
    sum: addLanes(lanes.sums),
    squares: addLanes(lanes.squares),
  };
}

/** Counts `data`, finite elements inside the grid of `exponent`. */
export function countBins(exponent: number, data: Float32Array): OpenBins {
  const bins = newBins();
  const [groups, rest] = canCountByKernel(exponent) ? splitGroups(data) : [data.subarray(0, 0), data];
  countByKernel(bins, exponent, groups);
  countScalar(bins, exponent, rest);
  return bins;
}

/** Whole groups of four, and the rest. */
function splitGroups(data: Float32Array): [Float32Array, Float32Array] {
  const whole = data.length - (data.length % 4);
  return [data.subarray(0, whole), data.subarray(whole)];
}

function addLanes([a = 0, b = 0, c = 0, d = 0]: Float64Array): number {
  return a + b + (c + d);
}

const number = new DataView(new ArrayBuffer(4));

function fromOrderKey(key: number): number {
  number.setInt32(0, toOrderKey(key));
  return number.getFloat32(0);
}
