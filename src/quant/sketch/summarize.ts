/** What do the elements of one tensor add up to? By the kernel where it can, the odd end in plain code: the same bits either way. */
import { addPlainly, countPlainly, newBins, newLanes, type OpenBins, toOrderKey } from './plain-summary.js';
import { addByKernel, canCountByKernel, countByKernel } from './summary-kernel.js';

/** Of finite elements, at least one. */
export interface Moments {
  /** Exact float32 numbers; −0 is 0. */
  readonly min: number;
  readonly max: number;
  readonly leastMagnitude: number;
  /** Elements that are 0 or −0. */
  readonly zeros: number;
  /** In double: element i is added to sum i mod 4, in order, and the four sums are added as (0 + 1) + (2 + 3). */
  readonly sum: number;
  /** Of the squares, in the same way. */
  readonly squares: number;
}

/** With NaN or an infinity among the elements, `sum` is not finite, and nothing else means anything. */
export function addUp(data: Float32Array): Moments {
  const lanes = newLanes();
  const [groups, rest] = splitGroups(data);
  addByKernel(lanes, groups);
  addPlainly(lanes, rest);
  return {
    min: fromOrderKey(lanes.least) + 0,
    max: fromOrderKey(lanes.greatest) + 0,
    leastMagnitude: fromOrderKey(lanes.smallest),
    zeros: lanes.zeros,
    sum: addLanes(lanes.sums),
    squares: addLanes(lanes.squares),
  };
}

/** Counts `data`, finite elements that the grid of `exponent` holds. */
export function countBins(exponent: number, data: Float32Array): OpenBins {
  const bins = newBins();
  const [groups, rest] = canCountByKernel(exponent) ? splitGroups(data) : [data.subarray(0, 0), data];
  countByKernel(bins, exponent, groups);
  countPlainly(bins, exponent, rest);
  return bins;
}

/** Whole groups of four, and what is left. */
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
