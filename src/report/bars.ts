/** Histograms on power-of-two grids as the bars of a drawing. */

/** Bin i holds the values x with floor(x / 2^exponent) = first + i. */
export interface GridHistogram {
  readonly exponent: number;
  readonly first: number;
  readonly counts: Float64Array;
}

/** More bars cannot be distinguished in a drawing of usual width. */
const MOST_BARS = 120;

/** The bars of a drawing: `width` each, the first from `first` times that. */
export interface Bars {
  readonly width: number;
  readonly first: number;
  readonly counts: Float64Array;
}

/** Histograms of all grids on the coarsest of them, then bins put together two by two, until there are at most `most`. */
export function makeBars(histograms: readonly GridHistogram[], most = MOST_BARS): Bars {
  const ends = (exponent: number): readonly [number, number] => {
    const ratios = histograms.map(histogram => 2 ** (exponent - histogram.exponent));
    const firsts = histograms.map(({ first }, index) => Math.floor(first / (ratios[index] ?? 1)));
    const lasts = histograms.map(({ first, counts }, index) => Math.floor((first + counts.length - 1) / (ratios[index] ?? 1)));
    return [Math.min(...firsts), Math.max(...lasts)];
  };
  let exponent = Math.max(...histograms.map(histogram => histogram.exponent));
  while (ends(exponent)[1] - ends(exponent)[0] >= most) exponent++;
  const [first, last] = ends(exponent);
  const sums = new Float64Array(last - first + 1);
  for (const histogram of histograms) {
    const ratio = 2 ** (exponent - histogram.exponent);
    for (const [index, count] of histogram.counts.entries()) {
      const bar = Math.floor((histogram.first + index) / ratio) - first;
      sums[bar] = (sums[bar] ?? 0) + count;
    }
  }
  return { width: 2 ** exponent, first, counts: sums };
}
