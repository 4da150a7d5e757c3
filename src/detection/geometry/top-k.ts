/** Sorting by score and selection of the largest scores. */

/** Indices of all scores, largest first; equal scores keep their order. NaN counts as the smallest. */
export function sortByScore(scores: Float32Array): Int32Array {
  return sortIndices(Int32Array.from(scores.keys()), ranksOf(scores));
}

/** Indices of the `k` largest scores, or of all where there are fewer; largest first, equal scores in their order. NaN counts as the smallest. */
export function topK(scores: Float32Array, k: number): Int32Array {
  if (k >= scores.length) return sortByScore(scores);
  if (k <= 0) return new Int32Array(0);
  const ranks = ranksOf(scores);
  return sortIndices(findAtLeast(ranks, findKthRank(ranks, k)), ranks).subarray(0, k);
}

const bits = new Uint32Array(1);
const float = new Float32Array(bits.buffer);

/** 32-bit integers in the order of the scores: the bits of each float, transformed to ascend with its value. */
function ranksOf(scores: Float32Array): Uint32Array {
  const ranks = new Uint32Array(scores.length);
  for (let i = 0; i < ranks.length; i++) {
    const score = scores[i] as number;
    // Adding 0 makes −0 equal to 0.
    float[0] = Number.isNaN(score) ? Number.NEGATIVE_INFINITY : score + 0;
    const pattern = bits[0] as number;
    ranks[i] = pattern < SIGN ? pattern + SIGN : ~pattern;
  }
  return ranks;
}

const SIGN = 2 ** 31;

/** Radix digits of a rank, highest first: the number of bits below each digit, and its width in bits. */
const DIGITS = [
  { shift: 21, width: 11 },
  { shift: 10, width: 11 },
  { shift: 0, width: 10 },
] as const;

/** The k-th largest rank by radix selection: counts each next digit among the ranks that share the higher digits. `k` is 1 to the number of ranks. */
function findKthRank(ranks: Uint32Array, k: number): number {
  let prefix = 0;
  let left = k;
  for (const { shift, width } of DIGITS) {
    const counts = new Uint32Array(1 << width);
    for (let i = 0; i < ranks.length; i++) {
      const rest = (ranks[i] as number) >>> shift;
      if (shift + width === 32 || rest >>> width === prefix) {
        const digit = rest & (counts.length - 1);
        counts[digit] = (counts[digit] as number) + 1;
      }
    }
    let digit = counts.length - 1;
    for (; (counts[digit] as number) < left; digit--) left -= counts[digit] as number;
    prefix = ((prefix << width) | digit) >>> 0;
  }
  return prefix;
}

function findAtLeast(ranks: Uint32Array, least: number): Int32Array {
  const found = new Int32Array(ranks.length);
  let count = 0;
  for (let i = 0; i < ranks.length; i++) if ((ranks[i] as number) >= least) found[count++] = i;
  return found.subarray(0, count);
}

/** A rank and an index below this limit fit exactly into one double. */
const MOST_INDICES = 2 ** 21;

/** By falling rank; equal ranks by rising index. */
function sortIndices(indices: Int32Array, ranks: Uint32Array): Int32Array {
  if (ranks.length > MOST_INDICES) return indices.sort((a, b) => (ranks[b] as number) - (ranks[a] as number) || a - b);
  // Sorting numbers is much faster than sorting with a comparison function.
  const keys = new Float64Array(indices.length);
  for (let i = 0; i < keys.length; i++) {
    const index = indices[i] as number;
    keys[i] = (2 ** 32 - 1 - (ranks[index] as number)) * MOST_INDICES + index;
  }
  keys.sort();
  const sorted = new Int32Array(keys.length);
  for (let i = 0; i < sorted.length; i++) sorted[i] = (keys[i] as number) % MOST_INDICES;
  return sorted;
}
