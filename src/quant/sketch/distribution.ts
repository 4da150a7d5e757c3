/** How do the elements of a value spread, as one picture? All histograms of a sketch brought to the coarsest of their grids, with the mean of each bin. */
import { fromDyadic } from './exact-sum.js';
import { OFFSET_BITS } from './histogram.js';
import type { Sketch } from './sketch.js';

/** Of the finite elements that are not zero: zero is exact in every scheme, and no bin has to hold it. */
export interface Distribution {
  /** Width of a bin, a power of two. */
  readonly width: number;
  /** Bin i of the arrays holds values from (first + i) · width up to that and one width. */
  readonly first: number;
  readonly counts: Float64Array;
  /** Mean value in each bin, in double; its lower edge where the bin is empty. Right to width / 2^(OFFSET_BITS + 1). */
  readonly means: Float64Array;
  readonly zeros: number;
  /** Finite elements, zeros among them. */
  readonly total: number;
  /** Sum of the squares of all of them. */
  readonly squares: number;
  /** Least and greatest element; 0 where there is none. */
  readonly min: number;
  readonly max: number;
}

const UNITS = 2 ** OFFSET_BITS;

/** Ranges, errors and reports look at the same sketch, one after the other. */
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
  /** Distances of each bin's values to its lower edge, added up. */
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
      // Distances are rounded down: half a unit is missing of each on average, but of zeros nothing, which are in bin 0.
      const within = ((histogram.offsets[i] as number) + (fine === 0 ? 0 : count / 2)) / UNITS;
      counts[bin - first] = (counts[bin - first] as number) + count;
      distances[bin - first] = (distances[bin - first] as number) + (within + (fine - bin * ratio) * count) * own;
    }
  }
  counts[-first] = (counts[-first] as number) - zeros;
  distances[-first] = (distances[-first] as number) + ((atZero - zeros) / 2 / UNITS) * width;
  const means = Float64Array.from(counts, (count, i) => (first + i) * width + (count === 0 ? 0 : (distances[i] as number) / count));
  const total = sketch.count - sketch.nan - sketch.infinite;
  return { width, first, counts, means, zeros, total, squares: fromDyadic(sketch.sumOfSquares), min, max };
}
