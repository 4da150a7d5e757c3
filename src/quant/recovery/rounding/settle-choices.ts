/** The end of adaptive rounding: choices of one row are changed, alone or two at once, while that lowers the squared error. Defines what settle.wat computes. */

/** Inputs whose choices are settled together: part of all inputs, where they are many. */
export interface SettledInputs {
  readonly size: number;
  /** Their products: H of these inputs, row by row. */
  readonly products: Float32Array;
  /** λ. */
  readonly damping: number;
  readonly partners: Partners;
}

/** Of one row, for these inputs. */
export interface Choices {
  /** What rounding the other way adds to each weight; 0 where there is no choice. Is negated where a choice changes. */
  readonly changes: Float64Array;
  /** (H + λI)·(q − w) minus the rest: half the slope of the error by each weight. Follows the changes. */
  readonly pull: Float64Array;
  /** Gains up to this could be errors of rounding. */
  readonly smallestGain: number;
  /** Ends after so many passes over the inputs, if choices still change. */
  readonly passes: number;
}

/** Per input, those that it depends on most. */
export interface Partners {
  readonly each: number;
  readonly indices: Int32Array;
}

/** Each input is paired with so many others. */
export const MOST_PARTNERS = 32;

/** The partners of input i have the largest H_ij² / H_jj: what a change of one can take back from a change of the other. In the order of inputs. */
export function findPartners({ size, products }: Pick<SettledInputs, 'size' | 'products'>): Partners {
  const each = Math.min(MOST_PARTNERS, size - 1);
  const indices = new Int32Array(size * each);
  const inverse = Float64Array.from({ length: size }, (_, j) => 1 / ((products[j * size + j] as number) || 1));
  const best = new Float64Array(each);
  for (let i = 0; each > 0 && i < size; i++) {
    const at = i * each;
    best.fill(-1);
    for (let j = 0; j < size; j++) {
      const product = products[i * size + j] as number;
      const worth = product * product * (inverse[j] as number);
      if (j === i || worth <= (best[each - 1] as number)) continue;
      let place = each - 1;
      for (; place > 0 && worth > (best[place - 1] as number); place--) {
        best[place] = best[place - 1] as number;
        indices[at + place] = indices[at + place - 1] as number;
      }
      best[place] = worth;
      indices[at + place] = j;
    }
    indices.subarray(at, at + each).sort();
  }
  return { each, indices };
}

/**
 * Changes choices until neither one alone nor one with a partner lowers (q − w)ᵀ·(H + λI)·(q − w) minus what the rest takes off.
 * Arithmetic is in double.
 */
export function settlePlainly(inputs: SettledInputs, { changes, pull, smallestGain, passes }: Choices): void {
  const { size, products, damping } = inputs;
  const flip = (index: number): void => {
    const change = changes[index] as number;
    const start = index * size;
    for (let k = 0; k < size; k++) pull[k] = (pull[k] as number) + change * (products[start + k] as number);
    pull[index] = (pull[index] as number) + change * damping;
    changes[index] = -change;
  };
  let lowered = true;
  for (let pass = 0; lowered && pass < passes; pass++) {
    lowered = false;
    for (let i = 0; i < size; i++) {
      if (changes[i] === 0) continue;
      const { partner, gain } = findBest(inputs, changes, pull, i);
      if (!(gain > smallestGain)) continue;
      flip(i);
      if (partner !== i) flip(partner);
      lowered = true;
    }
  }
}

/** The partner whose choice, changed with choice `index`, lowers the error most; `index` itself stands for none. */
function findBest(
  { size, products, damping, partners: { each, indices } }: SettledInputs,
  changes: Float64Array,
  pull: Float64Array,
  index: number,
) {
  const lossOf = (j: number): number => {
    const change = changes[j] as number;
    return change * (2 * (pull[j] as number) + change * ((products[j * size + j] as number) + damping));
  };
  const twice = 2 * (changes[index] as number);
  const alone = -lossOf(index);
  let [partner, gain] = [index, alone];
  for (let k = index * each; k < (index + 1) * each; k++) {
    const j = indices[k] as number;
    const both = alone - lossOf(j) - twice * (products[index * size + j] as number) * (changes[j] as number);
    if (both > gain) [partner, gain] = [j, both];
  }
  return { partner, gain };
}
