/** The end of adaptive rounding: choices of one row are changed, alone or two at once, while that lowers the squared error. */
import type { SquareMatrix } from './triangular-factor.js';

export interface Choices {
  /** What rounding the other way adds to each weight; 0 where there is no choice. Is negated where a choice changes. */
  readonly changes: Float64Array;
  /** q − w. */
  readonly differences: Float64Array;
  /** Gains up to this could be errors of rounding in doubles. */
  readonly smallestGain: number;
}

/** Changes choices until neither one nor two at once lower (q − w)ᵀ·H·(q − w). @param products H with both triangles. */
export function settleChoices({ changes, differences, smallestGain }: Choices, products: SquareMatrix): void {
  const { size, data } = products;
  const pull = new Float64Array(size);
  const add = (index: number, change: number): void => {
    const start = index * size;
    for (let k = 0; k < size; k++) pull[k] = (pull[k] as number) + change * (data[start + k] as number);
  };
  for (let i = 0; i < size; i++) if (differences[i] !== 0) add(i, differences[i] as number);
  const flip = (index: number): void => {
    const change = changes[index] as number;
    add(index, change);
    changes[index] = -change;
  };
  for (let lowered = true; lowered; ) {
    lowered = false;
    for (let i = 0; i < size; i++) {
      if (changes[i] === 0) continue;
      const { partner, gain } = findPartner(pull, products, changes, i);
      if (!(gain > smallestGain)) continue;
      flip(i);
      if (partner !== i) flip(partner);
      lowered = true;
    }
  }
}

/** The choice that, changed together with choice `index`, lowers the error most; `index` itself stands for none. */
function findPartner(pull: Float64Array, { size, data }: SquareMatrix, changes: Float64Array, index: number) {
  const own = changes[index] as number;
  const start = index * size;
  const alone = -own * (2 * (pull[index] as number) + own * (data[start + index] as number));
  let [partner, gain] = [index, alone];
  for (let j = 0; j < size; j++) {
    const change = changes[j] as number;
    if (change === 0 || j === index) continue;
    const slope = 2 * (pull[j] as number) + change * (data[j * size + j] as number) + 2 * own * (data[start + j] as number);
    const both = alone - change * slope;
    if (both > gain) [partner, gain] = [j, both];
  }
  return { partner, gain };
}
