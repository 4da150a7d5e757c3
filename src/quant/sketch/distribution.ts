/** The distribution of a value: all histograms of its sketch on the coarsest of their grids, with the mean of each bin. */
import { fromDyadic } from './exact-sum.js';
import { OFFSET_BITS } from './histogram.js';
import type { Sketch } from './sketch.js';

/** Covers the finite nonzero elements. Zero is exact in every scheme and needs no bin. */
export interface Distribution {
  /** Width of a bin, a power of two. */
  readonly width: number;
  /** Bin i of the arrays covers [(first + i) · width, (first + i + 1) · width). */
  readonly first: number;
  readonly counts: Float64Array;
  /** Mean value of each bin, in double; the lower edge for an empty bin. Accurate to width / 2^(OFFSET_BITS + 1). */
  readonly means: Float64Array;
  readonly zeros: number;
  /** Number of finite elements, including zeros. */
  readonly total: number;
  /** Sum of squares of all elements. */
  readonly squares: number;
  /** Smallest and largest element; 0 if there is none. */
  readonly min: number;
  readonly max: number;
}

const UNITS = 2 ** OFFSET_BITS;

/** Cache: ranges, errors and reports use the same sketch one after another. */
const KNOWN = new WeakMap<Sketch, Distribution>();

export function distributionOf(sketch: Sketch): Distribution {
  const known = KNOWN.get(sketch) ?? joinGrids(sketch);
  KNOWN.set(sketch, known);
  return known;
}

function joinGrids(sketch: Sketch): Distribution {
  const { histograms, zeros, min = 0, max = 0 } = sketch;
  const exponent = histograms.at(-1)?.exponent ?? 0;
  const width = 2 ** exponent;
  const ends = histograms.flatMap(({ exponent: own, first, counts }) => {
    const ratio = 2 ** (exponent - own);
    return [Math.floor(first / ratio), Math.floor((first + counts.length - 1) / ratio)];
  });
  const first = Math.min(...ends, 0);
  const counts = new Float64Array(Math.max(...ends, 0) - first + 1);
  /** Sum of the distances of each bin's values to its lower edge. */
  const distances = new Float64Array(counts.length);
  let atZero = 0;
  for (const histogram of histograms) {
    const ratio = 2 ** (exponent - histogram.exponent);
    const own = width / ratio;
    for (let i = 0; i < histogram.counts.length; i++) {
      const count = histogram.counts[i] as number;
      if (count === 0) continue;
      const fine = histogram.first + i;
      const bin = Math.floor(fine / ratio);
      if (fine === 0) atZero += count;
      // Distances are rounded down, so half a unit is missing on average; none for zeros, which are in bin 0.
      const within = ((histogram.offsets[i] as number) + (fine === 0 ? 0 : count / 2)) / UNITS;
      counts[bin - first] = (counts[bin - first] as number) + count;
      distances[bin - first] = (distances[bin - first] as number) + (within + (fine - bin * ratio) * count) * own;
    }
  }
  counts[-first] = (counts[-first] as number) - zeros;
  distances[-first] = (distances[-first] as number) + ((atZero - zeros) / 2 / UNITS) * width;
  const means = distances;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] as number;
    means[i] = (first + i) * width + (count === 0 ? 0 : (distances[i] as number) / count);
  }
  const total = sketch.count - sketch.nan - sketch.infinite;
  return { width, first, counts, means, zeros, total, squares: fromDyadic(sketch.sumOfSquares), min, max };
}
